"""Figure 2(a): synthetic regret against the horizon."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import PLAIN, below, by_policy_and_sigma, by_sigma
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.synthetic import draw_horizon, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each sigma."""
    figure: Figure = draw_horizon(found, canvas, "n_states", "m")
    return figure


def _beats_rivals(found: Found, sigma: float, policy: str) -> Evidence:
    return all_of(below(found.at(sigma=sigma), (policy,), (*PLAIN, "mucb")))


def _sublinear(found: Found, sigma: float) -> Evidence:
    record = found.at(sigma=sigma)
    halves = record.between("lobucb", 0, 0.5) - record.between("lobucb", 0.5, 1)
    return all_of([estimate("first half minus second half", halves)])


CLAIMS = (
    Claim(
        id="synthetic-lob-beats-rivals",
        where="Figure 2, caption, last sentence",
        words="Though they know less, lobUCB and lobTS have less regret than mUCB, UCB and TS.",
        statistic="regret of each rival minus regret of lobUCB and lobTS, at T = 500, k = m = 15",
        test=by_policy_and_sigma(_beats_rivals),
    ),
    Claim(
        id="lobucb-sublinear",
        where="Section 3.1, after Theorem 2",
        words="The regret of lobUCB grows more slowly than the horizon.",
        statistic="lobUCB's regret in the first half of the rounds minus that in the second half",
        test=by_sigma(_sublinear),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2a",
    place="Figure 2(a) (Section 4.1)",
    title="Synthetic: regret against the horizon",
    note="15 arms, 15 states. The text has sigma = 1, the appendix 5; both are shown. "
    "Best first: mTS plays each state's best arm once before it samples. Narrow: lobUCB has the "
    "radius of UCB, c sqrt(2 log t / N); its listing has 4.",
    work=(sweep(n_states=(15,)),),
    draw=draw,
    claims=CLAIMS,
)
