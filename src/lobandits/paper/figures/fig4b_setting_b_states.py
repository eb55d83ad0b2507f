"""Figure 4(b), Section 4.2: regret in Setting B against the number of states."""

from lobandits.paper.claims import (
    Claim,
    Estimate,
    all_of,
    any_of,
    below,
    below_along,
    for_each,
)
from lobandits.paper.drawing import Canvas, draw_final_regret
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import (
    LOB_VARIANTS,
    OWN_MEANS,
    ROBUST,
    SETTING_B,
    SHOWN,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import LATENT_BANDITS, UNSTRUCTURED

STATES = (5, 10, 20, 40, 60, 80, 100, 120, 140, 160)
FEW = 20
"""A small number of states is at most this."""
WORK = (sweep(500, n_states=STATES, alpha=(SETTING_B,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw one panel."""
    (panel,) = canvas.panels(1)
    draw_final_regret(panel, records.along("n_states"), SHOWN, "number of states $m$")


def _few_suffice(records: Records, policy: str) -> list[Estimate]:
    few = [(m, record) for m, record in records.along("n_states").items() if m <= FEW]
    return [all_of(below(r, policy, UNSTRUCTURED, where=f", m = {m}")).decisive for m, r in few]


CLAIMS = (
    Claim(
        id="movielens-b-few-states-suffice",
        where=f"{ROBUST}2nd paragraph, sentence 2",
        words="At T = 500 some m of at most 20 lets lobUCB and lobTS beat UCB and TS.",
        statistic="at each m <= 20 the weakest of: regret of UCB and TS minus that of lobUCB "
        "and lobTS; one m is enough",
        test=for_each(LOB_VARIANTS, _few_suffice, any_of),
    ),
    Claim(
        id="movielens-b-lob-preferable",
        where=f"{ROBUST}2nd paragraph, sentence 2",
        words="At T = 500, lobUCB and lobTS beat all others as m grows.",
        statistic="regret of UCB, TS, mUCB and mTS minus that of lobUCB and lobTS, at each m > 20",
        test=for_each(
            LOB_VARIANTS,
            lambda records, lob: below_along(
                records, "n_states", lob, (*UNSTRUCTURED, *LATENT_BANDITS), lambda m: m > FEW
            ),
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-4b",
    place="Figure 4(b) (Section 4.2)",
    title="MovieLens, Setting B: regret at T = 500 against the number of states",
    note=OWN_MEANS,
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
