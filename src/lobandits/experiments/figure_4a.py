"""Figure 4(a): MovieLens, Setting B, regret per round with 160 states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of
from lobandits.experiments.compare import BELIEVING, PLAIN, below, by_policy
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.movielens import HIGH, LOW, RAW, draw_states, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LATE = 0.5
"""The long run: after 2000 of 4000 rounds."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the one panel."""
    figure: Figure = draw_states(found, canvas, slope=True)
    return figure


def _less_bias(found: Found, policy: str) -> Evidence:
    return all_of(below(found.at(), (policy,), BELIEVING, LOW, HIGH))


def _bias(found: Found, policy: str) -> Evidence:
    return all_of(below(found.at(), PLAIN, (policy,), LATE, HIGH))


CLAIMS = (
    Claim(
        id="movielens-b-less-bias-than-latent-bandits",
        where="Section 4.2, 'LOB algorithms are robust', 2nd paragraph, sentence 1",
        words="After 3000 rounds lobUCB and lobTS have less regret per round than mUCB and mTS.",
        statistic="regret of mUCB and mTS minus regret of lobUCB and lobTS, rounds 3001-4000",
        test=by_policy(_less_bias),
    ),
    Claim(
        id="movielens-b-unstructured-overtake",
        where="Appendix B.5, last paragraph",
        words="After 2000 rounds UCB and TS have less regret per round than lobUCB and lobTS.",
        statistic="regret of lobUCB and lobTS minus regret of UCB and TS, rounds 2001-4000",
        test=by_policy(_bias),
    ),
)

EXPERIMENT = Experiment(
    name="figure-4a",
    place="Figure 4(a) (Section 4.2)",
    title="MovieLens, Setting B: regret per round with 160 states",
    note="Users' means are their own, and comply with no order. Moving average of 20 rounds, "
    "at every 20th.",
    work=(sweep(n_states=(160,), alpha=(RAW,)),),
    draw=draw,
    claims=CLAIMS,
    value="cumulative regret",
    on_ratings=True,
)
