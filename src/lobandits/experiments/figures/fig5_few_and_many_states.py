"""Figure 5, Appendix B.4: regret against the horizon with 4, 12 and 20 states."""

from lobandits.experiments.claims import Claim, Estimate, below_along, estimate, for_each
from lobandits.experiments.drawing import Canvas
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.synthetic_task import (
    AT_SIGMA,
    MTS_AT_SIGMA,
    STRUCTURE,
    draw_regret_by_states,
    sweep,
)
from lobandits.experiments.parts import Records

WORK = (sweep(n_states=(4, 12, 20)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw a row for each sigma, a column for each number of states."""
    draw_regret_by_states(records, canvas, columns=3)


def _explores_longer(records: Records, sigma: float, mts: str) -> list[Estimate]:
    few, *_, many = records.along("n_states", sigma=sigma).values()
    more = many.total(mts, 0.1) - few.total(mts, 0.1)
    return [estimate("more regret with 20 states than with 4", more)]


CLAIMS = (
    Claim(
        id="mts-explores-longer-with-more-states",
        where=f"{STRUCTURE}last sentence",
        words="mTS's initial exploration takes longer, the more states there are.",
        statistic="mTS's regret in the first 50 rounds with m = 20 minus that with m = 4",
        test=for_each(MTS_AT_SIGMA, _explores_longer),
    ),
    Claim(
        id="mts-beats-top-arms",
        where="Appendix C, last paragraph",
        words="mTS is far better than UCB restricted to the arms that are best in some state.",
        statistic="regret of UCB on the top arms minus regret of mTS, at each m",
        test=for_each(
            AT_SIGMA,
            lambda records, s: below_along(records, "n_states", "mts", ["toparms"], sigma=s),
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-5",
    place="Figure 5 (Appendix B.4)",
    title="Synthetic: regret against the horizon for m = 4, 12 and 20",
    note="15 arms.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
