"""Figure 4: synthetic regret if lobTS and lobUCB project only every T_proj rounds."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate, exactly
from lobandits.experiments.design import PAPER_POLICIES, SIGMAS, Experiment, Found, Sweep
from lobandits.experiments.draw import Canvas, draw_band, label_lines, policy_title
from lobandits.experiments.synthetic import HORIZON, USERS
from lobandits.simulation.report import line_styles

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EVERY = (1, 2, 5, 10, 20, 50)
LAZY = {
    "lobucb": ("lobucb", *(f"lobucb(refresh_every={n})" for n in EVERY[1:])),
    "lobts": ("lobts", *(f"lobts(project_every={n})" for n in EVERY[1:])),
}
"""Each policy at each pace."""
PAPER = EVERY.index(10)
TOLERANCE = 0.1
"""A regret that is larger by less than this share is not worse."""
LINEAR = (0.5, 0.8)
"""Shares of T_proj from which on a speed-up may be called linear; the verdict hangs on it."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw regret against T_proj; policies without it are level lines."""
    figure, axes = canvas.panels(len(SIGMAS))
    styles = line_styles(PAPER_POLICIES)
    for place, sigma in zip(axes, SIGMAS, strict=True):
        record = found.at(sigma=sigma)
        for label, style in styles.items():
            lazy = LAZY.get(label, (label,) * len(EVERY))
            ends = [[curve[-1] for curve in record.curve(name)] for name in lazy]
            mean, error = np.transpose(ends)
            draw_band(place, np.array(EVERY, float), mean, error, style, marks=label in LAZY)
        place.set_xscale("log")
        place.set_xticks(EVERY, [str(n) for n in EVERY])
        place.minorticks_off()
        place.set_ylim(bottom=0)
        place.set_xlabel("rounds between projections $T_{proj}$")
        place.set_ylabel(f"cumulative regret at $T={record.horizon}$")
        place.set_title(f"$\\sigma={sigma:g}$")
        label_lines(place, PAPER_POLICIES)
    return figure


def _harmless(found: Found) -> dict[str, Evidence]:
    what = "110% of the regret at T_proj = 1 minus that at 10"
    variants = {}
    for sigma in SIGMAS:
        record = found.at(sigma=sigma)
        for policy, lazy in LAZY.items():
            more = (1 + TOLERANCE) * record.total(policy) - record.total(lazy[PAPER])
            name = f"{policy_title(policy)}, sigma = {sigma:g}"
            variants[name] = all_of([estimate(what, more)])
    return variants


def _linear(found: Found) -> dict[str, Evidence]:
    variants = {}
    for sigma in SIGMAS:
        seconds = found.at(sigma=sigma).cpu_seconds
        ratio = seconds["lobts"] / max(seconds[LAZY["lobts"][PAPER]], 1e-9)
        for share in LINEAR:
            what = f"speed-up of lobTS, {ratio:.1f}, minus {share:.0%} of {EVERY[PAPER]}"
            name = f"sigma = {sigma:g}, at least {share:.0%} of T_proj"
            variants[name] = all_of([exactly(what, ratio - share * EVERY[PAPER])])
    return variants


CLAIMS = (
    Claim(
        id="projecting-every-10-rounds-is-harmless",
        where="Section 3.3, last but one sentence; Appendix B.3",
        words="To project only every tenth round hurts neither lobUCB nor lobTS.",
        statistic="110% of the regret at T_proj = 1 minus the regret at T_proj = 10",
        test=_harmless,
    ),
    Claim(
        id="projecting-less-is-linearly-faster",
        where="Section 3.3, last sentence; Appendix B.3",
        words="To project every T_proj rounds speeds lobTS up by a factor of T_proj.",
        statistic="processor time of lobTS at T_proj = 1 over that at 10, minus 5 and 8",
        test=_linear,
        timed=True,
    ),
)

EXPERIMENT = Experiment(
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
    draw=draw,
    claims=CLAIMS,
)
