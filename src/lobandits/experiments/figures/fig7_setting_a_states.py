"""Figure 7, Appendix B.5: regret against the horizon in Setting A with 10, 20 and 80 states."""

from lobandits.experiments.claims import Claim, below_along, for_each
from lobandits.experiments.drawing import Canvas
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.movielens_task import (
    EXPLOITS,
    PACES,
    SETTING_A,
    draw_regret_by_states,
    sweep,
)
from lobandits.experiments.parts import Records
from lobandits.experiments.policy_names import LATENT_BANDITS, UNSTRUCTURED

WORK = (sweep(n_states=(10, 20, 80), alpha=(SETTING_A,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw a panel for each number of states."""
    draw_regret_by_states(records, canvas, per_round=False)


CLAIMS = (
    Claim(
        id="movielens-a-lobts-best-for-other-m",
        where=f"{EXPLOITS}last sentence",
        words="With 10, 20 and 80 states, too, lobTS has the least regret of all.",
        statistic="regret of each other policy minus regret of lobTS, at T = 4000 and each m",
        test=for_each(
            PACES,
            lambda records, lobucb, lobts: below_along(
                records, "n_states", lobts, (*UNSTRUCTURED, *LATENT_BANDITS, lobucb)
            ),
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-7",
    place="Figure 7 (Appendix B.5)",
    title="MovieLens, Setting A: regret against the horizon for m = 10, 20 and 80",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
