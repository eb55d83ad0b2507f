"""Figure 6: MovieLens, Setting A, regret per round."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of
from lobandits.experiments.compare import PLAIN, below, by_policy
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.movielens import WELL, draw_states, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOON, LATER = 0.125, 0.25
"""Rounds 501 to 1000 of 4000."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the one panel."""
    figure: Figure = draw_states(found, canvas, slope=True)
    return figure


def _soon_low(found: Found, policy: str) -> Evidence:
    return all_of(below(found.at(), (policy,), PLAIN, SOON, LATER))


CLAIMS = (
    Claim(
        id="movielens-a-lob-soon-low",
        where="Section 4.2, 'LOB exploits structure', sentence 1",
        words="In Setting A, lobUCB and lobTS quickly reach a low regret per round.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, rounds 501-1000",
        test=by_policy(_soon_low),
    ),
)

EXPERIMENT = Experiment(
    name="figure-6",
    place="Figure 6 (Appendix B.5)",
    title="MovieLens, Setting A: regret per round with 60 states",
    note="Moving average of 20 rounds, at every 20th.",
    work=(sweep(n_states=(60,), alpha=(WELL,)),),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
