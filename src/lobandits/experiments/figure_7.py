"""Figure 7: MovieLens, Setting A, cumulative regret for other numbers of states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of
from lobandits.experiments.compare import BELIEVING, PLAIN, below, by_pace
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas
from lobandits.experiments.movielens import WELL, draw_states, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = (10, 20, 80)


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for each number of states."""
    figure: Figure = draw_states(found, canvas, slope=False)
    return figure


def _lobts_best(found: Found, lobucb: str, lobts: str) -> Evidence:
    rivals = (*PLAIN, *BELIEVING, lobucb)
    records = found.along("n_states").items()
    return all_of(e for m, r in records for e in below(r, (lobts,), rivals, where=f", m = {m}"))


CLAIMS = (
    Claim(
        id="movielens-a-lobts-best-for-other-m",
        where="Section 4.2, 'LOB exploits structure', last sentence",
        words="With 10, 20 and 80 states, too, lobTS has the least regret of all.",
        statistic="regret of each other policy minus regret of lobTS, at T = 4000 and each m",
        test=by_pace(_lobts_best),
    ),
)

EXPERIMENT = Experiment(
    name="figure-7",
    place="Figure 7 (Appendix B.5)",
    title="MovieLens, Setting A: regret against the horizon for m = 10, 20 and 80",
    work=(sweep(n_states=STATES, alpha=(WELL,)),),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
