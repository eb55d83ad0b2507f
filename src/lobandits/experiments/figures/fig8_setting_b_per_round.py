"""Figure 8, Appendix B.5: regret per round in Setting B with 5, 20 and 140 states."""

from lobandits.experiments.claims import Claim, Estimate, estimate, for_each
from lobandits.experiments.drawing import Canvas
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.movielens_task import (
    AVERAGED,
    LOB_VARIANTS,
    SETTING_B,
    draw_regret_by_states,
    sweep,
)
from lobandits.experiments.parts import Records

WORK = (sweep(n_states=(5, 20, 140), alpha=(SETTING_B,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw a panel for each number of states."""
    draw_regret_by_states(records, canvas, per_round=True)


def _bias_falls(records: Records, policy: str) -> list[Estimate]:
    few, *_, many = records.along("n_states").values()
    less = few.between(policy, 0.75, 1.0) - many.between(policy, 0.75, 1.0)
    return [estimate("regret with 5 states minus that with 140", less)]


CLAIMS = (
    Claim(
        id="movielens-b-bias-falls-with-m",
        where="Appendix B.5, last paragraph, sentence 2",
        words="With more states the late regret of lobUCB and lobTS is smaller.",
        statistic="regret in rounds 3001-4000 with m = 5 minus that with m = 140, by user",
        test=for_each(LOB_VARIANTS, _bias_falls),
    ),
)

EXPERIMENT = Experiment(
    name="figure-8",
    place="Figure 8 (Appendix B.5)",
    title="MovieLens, Setting B: regret per round for m = 5, 20 and 140",
    note=AVERAGED,
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
