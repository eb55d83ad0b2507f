"""Figure 6, Appendix B.5: regret per round in Setting A."""

from functools import partial

from lobandits.paper.claims import Claim, below, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import (
    AVERAGED,
    EXPLOITS,
    LOB_VARIANTS,
    SETTING_A,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts.policies import UNSTRUCTURED

WORK = (sweep(n_states=(60,), alpha=(SETTING_A,)),)


CLAIMS = (
    Claim(
        id="movielens-a-lob-soon-low",
        where=f"{EXPLOITS}sentence 1",
        words="In Setting A, lobUCB and lobTS quickly reach a low regret per round.",
        statistic="regret of UCB and TS minus regret of lobUCB and lobTS, rounds 501-1000",
        test=for_each(
            LOB_VARIANTS,
            lambda records, lob: below(records.at(), lob, UNSTRUCTURED, 0.125, 0.25),
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-6",
    place="Figure 6 (Appendix B.5)",
    title="MovieLens, Setting A: regret per round with 60 states",
    note=AVERAGED,
    work=WORK,
    draw=partial(draw_regret_by_states, per_round=True),
    claims=CLAIMS,
)
