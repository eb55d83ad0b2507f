"""Figure 2(a), Section 4.1: regret against the horizon on the synthetic task."""

from lobandits.experiments.claims import Claim, Estimate, below, estimate, for_each
from lobandits.experiments.drawing import Canvas
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.synthetic_task import (
    AT_SIGMA,
    LOB_AT_SIGMA,
    draw_regret_by_states,
    sweep,
)
from lobandits.experiments.parts import Records
from lobandits.experiments.policy_names import UNSTRUCTURED

WORK = (sweep(n_states=(15,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw a panel for each sigma."""
    draw_regret_by_states(records, canvas, columns=2)


def _sublinear(records: Records, sigma: float) -> list[Estimate]:
    record = records.at(sigma=sigma)
    halves = record.between("lobucb", 0, 0.5) - record.between("lobucb", 0.5, 1)
    return [estimate("first half minus second half", halves)]


CLAIMS = (
    Claim(
        id="synthetic-lob-beats-rivals",
        where="Figure 2, caption, last sentence",
        words="Though they know less, lobUCB and lobTS have less regret than mUCB, UCB and TS.",
        statistic="regret of each rival minus regret of lobUCB and lobTS, at T = 500, k = m = 15",
        test=for_each(
            LOB_AT_SIGMA,
            lambda records, sigma, lob: below(
                records.at(sigma=sigma), lob, (*UNSTRUCTURED, "mucb")
            ),
        ),
    ),
    Claim(
        id="lobucb-sublinear",
        where="Section 3.1, after Theorem 2",
        words="The regret of lobUCB grows more slowly than the horizon.",
        statistic="lobUCB's regret in the first half of the rounds minus that in the second half",
        test=for_each(AT_SIGMA, _sublinear),
    ),
)

EXPERIMENT = Experiment(
    name="figure-2a",
    place="Figure 2(a) (Section 4.1)",
    title="Synthetic: regret against the horizon",
    note="15 arms, 15 states. The text has sigma = 1, the appendix 5; both are shown. "
    "Best first: mTS plays each state's best arm once before it samples. Narrow: lobUCB has the "
    "radius of UCB, c sqrt(2 log t / N); its listing has 4.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
