"""Figure 5: synthetic cumulative regret for few and many states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import MTS, below, by_sigma
from lobandits.experiments.design import SIGMAS, Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.synthetic import draw_horizon, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = (4, 12, 20)
START = 0.1
"""The initial phase: this share of the rounds."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each sigma and number of states."""
    figure: Figure = draw_horizon(found, canvas, "n_states", "m", columns=len(STATES))
    return figure


def _explores_longer(found: Found) -> dict[str, Evidence]:
    variants = {}
    for sigma in SIGMAS:
        for option, mts in MTS.items():
            records = list(found.along("n_states", sigma=sigma).values())
            more = records[-1].total(mts, START) - records[0].total(mts, START)
            name = f"sigma = {sigma:g}{', ' if option else ''}{option}"
            variants[name] = all_of([estimate("more regret with 20 states than with 4", more)])
    return variants


def _beats_top_arms(found: Found, sigma: float) -> Evidence:
    records = found.along("n_states", sigma=sigma).items()
    pairs = [(r, f", m = {m}") for m, r in records]
    return all_of(e for r, where in pairs for e in below(r, ("mts",), ("toparms",), where=where))


CLAIMS = (
    Claim(
        id="mts-explores-longer-with-more-states",
        where="Section 4.1, 'Latent order bandits benefit from structure', last sentence",
        words="mTS's initial exploration takes longer, the more states there are.",
        statistic="mTS's regret in the first 50 rounds with m = 20 minus that with m = 4",
        test=_explores_longer,
    ),
    Claim(
        id="mts-beats-top-arms",
        where="Appendix C, last paragraph",
        words="mTS is far better than UCB restricted to the arms that are best in some state.",
        statistic="regret of UCB on the top arms minus regret of mTS, at each m",
        test=by_sigma(_beats_top_arms),
    ),
)

EXPERIMENT = Experiment(
    name="figure-5",
    place="Figure 5 (Appendix B.4)",
    title="Synthetic: regret against the horizon for m = 4, 12 and 20",
    note="15 arms.",
    work=(sweep(n_states=STATES),),
    draw=draw,
    claims=CLAIMS,
)
