"""What projecting costs: less often (Figure 4), and the computation times in the paper's text."""

import numpy as np

from lobandits.experiments.claims import ONCE, PACES, SIGMA, Claim, Estimate, by, estimate, exactly
from lobandits.experiments.design import (
    PAPER_POLICIES,
    SIGMAS,
    TENTH,
    Experiment,
    Found,
    Sweep,
    policy_title,
)
from lobandits.experiments.draw import Canvas, draw_band, label_lines
from lobandits.experiments.movielens import RAW, sweep
from lobandits.experiments.synthetic import HORIZON, USERS
from lobandits.simulation.report import line_styles

EVERY = (1, 2, 5, 10, 20, 50)
LAZY = {
    "lobucb": ("lobucb", *(f"lobucb(refresh_every={n})" for n in EVERY[1:])),
    "lobts": ("lobts", *(f"lobts(project_every={n})" for n in EVERY[1:])),
}
"""Each policy at each pace."""
TOLERANCE = 0.1
"""A regret that is larger by less than this share is not worse."""
LINEAR = (0.5, 0.8)
"""Shares of T_proj from which on a speed-up may be called linear; the verdict hangs on it."""
PAPER_MINUTES = {"mucb": 1.0, "mts": 3.0, TENTH[0]: 30.0, TENTH[1]: 94.0}
MOST_SECONDS = 2.0
"""Per round, for all users together."""


def draw_paces(found: Found, canvas: Canvas) -> None:
    """Draw regret against T_proj; policies without it are level lines."""
    axes = canvas.panels(len(SIGMAS))
    for place, sigma in zip(axes, SIGMAS, strict=True):
        record = found.at(sigma=sigma)
        for label, style in line_styles(PAPER_POLICIES).items():
            lazy = LAZY.get(label, (label,) * len(EVERY))
            ends = [[curve[-1] for curve in record.curve(name)] for name in lazy]
            mean, error = np.transpose(ends)
            marker = style["marker"] if label in LAZY else ""
            draw_band(place, np.array(EVERY, float), mean, error, {**style, "marker": marker})
        place.set_xscale("log")
        place.set_xticks(EVERY, [str(n) for n in EVERY])
        place.minorticks_off()
        place.set_ylim(bottom=0)
        place.set_xlabel("rounds between projections $T_{proj}$")
        place.set_ylabel(f"cumulative regret at $T={record.horizon}$")
        place.set_title(f"$\\sigma={sigma:g}$")
        label_lines(place, PAPER_POLICIES)


def draw_times(found: Found, canvas: Canvas) -> None:
    """Draw seconds, on a logarithmic scale, beside the paper's minutes."""
    (place,) = canvas.panels(1, high=2.2)
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


def _harmless(found: Found, sigma: float, policy: str) -> list[Estimate]:
    record = found.at(sigma=sigma)
    lazy = LAZY[policy][EVERY.index(10)]
    more = (1 + TOLERANCE) * record.total(policy) - record.total(lazy)
    return [estimate("110% of the regret at T_proj = 1 minus that at 10", more)]


def _linear(found: Found, sigma: float, share: float) -> list[Estimate]:
    seconds = found.at(sigma=sigma).cpu_seconds
    ratio = seconds["lobts"] / max(seconds["lobts(project_every=10)"], 1e-9)
    what = f"speed-up of lobTS, {ratio:.1f}, minus {share:.0%} of 10"
    return [exactly(what, ratio - share * 10)]


def _slowest(found: Found, lobucb: str, lobts: str) -> list[Estimate]:
    seconds = found.at().cpu_seconds
    return [
        exactly(f"lobTS minus {policy_title(label)}", seconds[lobts] - seconds[label])
        for label in ("mucb", "mts", lobucb)
    ]


def _fast_enough(found: Found) -> list[Estimate]:
    record = found.at()
    each = {label: record.cpu_seconds[label] / record.horizon for label in TENTH}
    return [
        exactly(f"2 s minus {1000 * s:.2g} ms of {policy_title(label)}", MOST_SECONDS - s)
        for label, s in each.items()
    ]


FIGURE_4 = Experiment(
    name="figure-4",
    place="Figure 4 (Appendix B.3)",
    title="Synthetic: regret against the rounds between projections, k = m = 10",
    note="lobUCB finds its active arms, and lobTS its probabilities, anew every T_proj rounds.",
    work=(
        Sweep(
            environment="synthetic",
            axes={"sigma": SIGMAS},
            fixed={"n_arms": 10, "n_states": 10, "q": 1.0},
            policies=("ucb", "ts", "mucb", "mts", *LAZY["lobucb"], *LAZY["lobts"]),
            horizon=HORIZON,
            users=USERS,
        ),
    ),
    draw=draw_paces,
    claims=(
        Claim(
            id="projecting-every-10-rounds-is-harmless",
            where="Section 3.3, last but one sentence; Appendix B.3",
            words="To project only every tenth round hurts neither lobUCB nor lobTS.",
            statistic="110% of the regret at T_proj = 1 minus the regret at T_proj = 10",
            test=by(
                {
                    f"{policy_title(policy)}, {name}": (*sigma, policy)
                    for name, sigma in SIGMA.items()
                    for policy in LAZY
                },
                _harmless,
            ),
        ),
        Claim(
            id="projecting-less-is-linearly-faster",
            where="Section 3.3, last sentence; Appendix B.3",
            words="To project every T_proj rounds speeds lobTS up by a factor of T_proj.",
            statistic="processor time of lobTS at T_proj = 1 over that at 10, minus 5 and 8",
            test=by(
                {
                    f"{name}, at least {share:.0%} of T_proj": (*sigma, share)
                    for name, sigma in SIGMA.items()
                    for share in LINEAR
                },
                _linear,
            ),
            timed=True,
        ),
    ),
)

COMPUTATION_TIME = Experiment(
    name="computation-time",
    place="Section 4.2, 'Computation time'",
    title="MovieLens: computation time with 140 states",
    note="Processor time of 100 users and 4000 rounds, all processors together; the paper's times "
    "are from another machine.",
    work=(sweep(n_states=(140,), alpha=(RAW,)),),
    draw=draw_times,
    claims=(
        Claim(
            id="lobts-slowest",
            where="Section 4.2, 'Computation time', sentences 1 and 2",
            words="lobTS takes longer than mUCB, mTS and lobUCB.",
            statistic="processor time of lobTS minus that of each other one, in seconds",
            test=by(PACES, _slowest),
            timed=True,
        ),
        Claim(
            id="lob-fast-enough",
            where="Section 4.2, 'Computation time', last sentence",
            words="A round of lobUCB and lobTS takes at most 2 seconds, for 100 users together.",
            statistic="2 s minus processor time per round",
            test=by(ONCE, _fast_enough),
            timed=True,
        ),
    ),
    value="seconds",
    timed=True,
)
