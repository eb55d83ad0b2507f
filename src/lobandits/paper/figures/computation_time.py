"""Section 4.2, 'Computation time': processor seconds of 100 users with 140 states."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.claims import NO_VARIANTS, Claim, Estimate, estimate, for_each
from lobandits.paper.drawing import Canvas, remark
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import PACES, SETTING_B, sweep
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import LOBTS_TENTH, LOBUCB_TENTH, policy_title
from lobandits.simulation.regret_plot import line_styles

PAPER_MINUTES = {"mucb": 1.0, "mts": 3.0, LOBUCB_TENTH: 30.0, LOBTS_TENTH: 94.0}
MOST_SECONDS = 2.0
"""Per round, for all users together."""
WORK = (sweep(n_states=(140,), alpha=(SETTING_B,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw the paper's time and our own, a row for each policy."""
    (panel,) = canvas.panels(1, high=2.2)
    runs = {label: _of_100_users(records, label) for label in PAPER_MINUTES}
    styles = line_styles(PAPER_MINUTES)
    rows = np.arange(len(PAPER_MINUTES))
    own = [float(runs[label].mean()) for label in PAPER_MINUTES]
    paper = [60 * minutes for minutes in PAPER_MINUTES.values()]
    panel.hlines(rows, own, paper, color="#8c8c8c", linewidth=0.8)
    for row, label, mine, theirs in zip(rows, PAPER_MINUTES, own, paper, strict=True):
        color = styles[label]["color"]
        panel.plot(runs[label], np.full(len(runs[label]), row), "|", color=color, markersize=9)
        panel.plot(mine, row, "o", color=color, markersize=6)
        panel.plot(theirs, row, "s", color=color, markersize=6, markerfacecolor="none")
        for x, text in ((mine, f"{mine:.2g} s"), (theirs, f"{theirs / 60:g} min")):
            remark(panel, text, (x, row), (0, 6), ha="center", fontsize=7.5)
    panel.set_yticks(rows, [policy_title(label) for label in PAPER_MINUTES])
    panel.set(xscale="log", xmargin=0.12, ylim=(-0.5, len(rows) - 0.2))
    panel.set(xlabel="processor seconds (filled: here, with a stroke for each run; empty: paper)")


def _of_100_users(records: Records, label: str) -> FloatArray:
    """Return the processor seconds of each run, one for each seed, as if it had 100 users."""
    record = records.at()
    runs = np.array(record.cpu_seconds[label])
    return runs * 100 * len(runs) / record.n_users


def _longer(records: Records, slow: str, fast: str) -> Estimate:
    more = _of_100_users(records, slow) - _of_100_users(records, fast)
    return estimate(f"{policy_title(slow)} minus {policy_title(fast)}, by run", more)


def _slowest(records: Records, lobucb: str, lobts: str) -> list[Estimate]:
    return [_longer(records, lobts, label) for label in ("mucb", "mts", lobucb)]


def _ranked(records: Records, lobucb: str, lobts: str) -> list[Estimate]:
    return [_longer(records, lobucb, "mts"), _longer(records, "mts", "mucb")]


def _fast_enough(records: Records) -> list[Estimate]:
    horizon = records.at().horizon
    each = {p: _of_100_users(records, p) / horizon for p in (LOBUCB_TENTH, LOBTS_TENTH)}
    return [
        estimate(f"2 s minus {1000 * s.mean():.2g} ms of {policy_title(p)}", MOST_SECONDS - s)
        for p, s in each.items()
    ]


CLAIMS = (
    Claim(
        id="lobts-slowest",
        where="Section 4.2, 'Computation time', sentences 1 and 2",
        words="lobTS takes longer than mUCB, mTS and lobUCB.",
        statistic="processor time of lobTS minus that of each other one, in seconds",
        test=for_each(PACES, _slowest),
        timed=True,
    ),
    Claim(
        id="lobucb-slower-than-mts-slower-than-mucb",
        where="Section 4.2, 'Computation time', sentence 2",
        words="lobUCB takes longer than mTS, and mTS longer than mUCB.",
        statistic="processor time of one minus that of the next, in seconds, by run",
        test=for_each(PACES, _ranked),
        timed=True,
    ),
    Claim(
        id="lob-fast-enough",
        where="Section 4.2, 'Computation time', last sentence",
        words="A round of lobUCB and lobTS takes at most 2 seconds, for 100 users together.",
        statistic="2 s minus processor time per round",
        test=for_each(NO_VARIANTS, _fast_enough),
        timed=True,
    ),
)

EXPERIMENT = Experiment(
    name="computation-time",
    place="Section 4.2, 'Computation time'",
    title="MovieLens: computation time with 140 states",
    note="Processor time of 100 users and 4000 rounds on one thread, with nothing else under way. "
    "It is measured once for each seed; the paper's times are from another machine.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
    value="processor seconds of all runs",
    timed=True,
)
