"""Figure 8: MovieLens, Setting B, regret per round for few and many states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import by_policy
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.movielens import HIGH, LOW, RAW, draw_states, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = (5, 20, 140)


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each number of states."""
    figure: Figure = draw_states(found, canvas, slope=True)
    return figure


def _bias_falls(found: Found, policy: str) -> Evidence:
    few, many = found.at(n_states=STATES[0]), found.at(n_states=STATES[-1])
    less = few.between(policy, LOW, HIGH) - many.between(policy, LOW, HIGH)
    return all_of([estimate("regret with 5 states minus that with 140", less)])


CLAIMS = (
    Claim(
        id="movielens-b-bias-falls-with-m",
        where="Appendix B.5, last paragraph, sentence 2",
        words="With more states the late regret of lobUCB and lobTS is smaller.",
        statistic="regret in rounds 3001-4000 with m = 5 minus that with m = 140, by user",
        test=by_policy(_bias_falls),
    ),
)

EXPERIMENT = Experiment(
    name="figure-8",
    place="Figure 8 (Appendix B.5)",
    title="MovieLens, Setting B: regret per round for m = 5, 20 and 140",
    note="Moving average of 20 rounds, at every 20th.",
    work=(sweep(n_states=STATES, alpha=(RAW,)),),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
