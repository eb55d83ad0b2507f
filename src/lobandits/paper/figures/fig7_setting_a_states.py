"""Figure 7, Appendix B.5: regret against the horizon in Setting A with 10, 20 and 80 states."""

from functools import partial

from lobandits.paper.claims import Claim, Estimate, all_of, below_along, estimate, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import (
    EXPLOITS,
    LINEAR,
    PACES,
    SETTING_A,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import LATENT_BANDITS, UNSTRUCTURED

WORK = (sweep(n_states=(10, 20, 80), alpha=(SETTING_A,)),)


def _mts_linear(records: Records, m: int) -> list[Estimate]:
    record = records.at(n_states=m)
    late, early = record.between("mts", 0.75, 1.0), record.between("mts", 0.25, 0.5)
    return [estimate("last quarter minus 70% of the second", late - LINEAR * early, record)]


CLAIMS = (
    Claim(
        id="movielens-a-mts-linear-for-other-m",
        where=f"{EXPLOITS}last sentence: 'Similar behavior'",
        words="With 10, 20 and 80 states, too, mTS's regret grows in proportion to the horizon.",
        statistic="mTS's regret in rounds 3001-4000 minus 70% of that in rounds 1001-2000 "
        "(proportional growth: 100%, logarithmic: 42%)",
        test=lambda records: {
            f"m = {m}": all_of(_mts_linear(records, m)) for m in records.along("n_states")
        },
    ),
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
    draw=partial(draw_regret_by_states, per_round=False),
    claims=CLAIMS,
)
