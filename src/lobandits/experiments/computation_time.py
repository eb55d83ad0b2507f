"""The computation times that the paper reports in its text."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.experiments.claims import Claim, Evidence, all_of, exactly
from lobandits.experiments.design import TENTH, Experiment, Found
from lobandits.experiments.draw import Canvas, policy_title
from lobandits.experiments.movielens import RAW, sweep
from lobandits.simulation.report import line_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAPER_MINUTES = {"mucb": 1.0, "mts": 3.0, TENTH[0]: 30.0, TENTH[1]: 94.0}
MOST_SECONDS = 2.0
"""Per round, for all users together."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw seconds, on a logarithmic scale, beside the paper's minutes."""
    figure, (place,) = canvas.panels(1, high=2.2)
    seconds = found.at().cpu_seconds
    styles = line_styles(PAPER_MINUTES)
    rows = np.arange(len(PAPER_MINUTES))
    own = [seconds[label] for label in PAPER_MINUTES]
    paper = [60 * minutes for minutes in PAPER_MINUTES.values()]
    place.hlines(rows, own, paper, color="#8c8c8c", linewidth=0.8)
    for row, label, mine, theirs in zip(rows, PAPER_MINUTES, own, paper, strict=True):
        color = styles[label]["color"]
        place.plot(mine, row, "o", color=color, markersize=6)
        place.plot(theirs, row, "s", color=color, markersize=6, markerfacecolor="none")
        for x, text in ((mine, f"{mine:.2g} s"), (theirs, f"{theirs / 60:g} min")):
            place.annotate(text, (x, row), (0, 6), textcoords="offset points", ha="center",
                           fontsize=7.5)  # fmt: skip
    place.set_xscale("log")
    place.set_yticks(rows, [policy_title(label) for label in PAPER_MINUTES])
    place.set_ylim(-0.5, len(rows) - 0.2)
    place.margins(x=0.12)
    place.set_xlabel("processor seconds (filled: here, empty: paper)")
    return figure


def _slowest(found: Found) -> dict[str, Evidence]:
    seconds = found.at().cpu_seconds
    return {
        pace: all_of(
            exactly(f"lobTS minus {policy_title(label)}", seconds[lobts] - seconds[label])
            for label in ("mucb", "mts", lobucb)
        )
        for pace, lobucb, lobts in (
            ("projecting every 10th round", *TENTH),
            ("projecting every round", "lobucb", "lobts"),
        )
    }


def _fast_enough(found: Found) -> dict[str, Evidence]:
    record = found.at()
    each = {label: record.cpu_seconds[label] / record.horizon for label in TENTH}
    return {
        "": all_of(
            exactly(f"2 s minus {1000 * s:.2g} ms of {policy_title(label)}", MOST_SECONDS - s)
            for label, s in each.items()
        )
    }


CLAIMS = (
    Claim(
        id="lobts-slowest",
        where="Section 4.2, 'Computation time', sentences 1 and 2",
        words="lobTS takes longer than mUCB, mTS and lobUCB.",
        statistic="processor time of lobTS minus that of each other one, in seconds",
        test=_slowest,
        timed=True,
    ),
    Claim(
        id="lob-fast-enough",
        where="Section 4.2, 'Computation time', last sentence",
        words="A round of lobUCB and lobTS takes at most 2 seconds, for 100 users together.",
        statistic="2 s minus processor time per round",
        test=_fast_enough,
        timed=True,
    ),
)

EXPERIMENT = Experiment(
    name="computation-time",
    place="Section 4.2, 'Computation time'",
    title="MovieLens: computation time with 140 states",
    note="Processor time of 100 users and 4000 rounds, all processors together; the paper's times "
    "are from another machine.",
    work=(sweep(n_states=(140,), alpha=(RAW,)),),
    draw=draw,
    claims=CLAIMS,
    value="seconds",
    on_ratings=True,
    timed=True,
)
