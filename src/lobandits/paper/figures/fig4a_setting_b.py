"""Figure 4(a), Section 4.2: regret per round on MovieLens, where users have their own means."""

from functools import partial

from lobandits.paper.claims import Claim, Estimate, below, estimate, for_each
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import (
    AVERAGED,
    LINEAR,
    LOB_VARIANTS,
    OWN_MEANS,
    ROBUST,
    SETTING_B,
    draw_regret_by_states,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import LATENT_BANDITS, policy_title

WORK = (sweep(n_states=(160,), alpha=(SETTING_B,)),)


def _half(records: Records, lob: str) -> list[Estimate]:
    record = records.at()
    own = record.between(lob, 0.75, 1.0)
    return [
        estimate(f"half of {policy_title(m)}", record.between(m, 0.75, 1.0) / 2 - own, record)
        for m in LATENT_BANDITS
    ]


def _linear(records: Records, lob: str) -> list[Estimate]:
    record = records.at()
    late, early = record.between(lob, 0.75, 1.0), record.between(lob, 0.25, 0.5)
    return [estimate("last quarter minus 70% of the second", late - LINEAR * early, record)]


CLAIMS = (
    Claim(
        id="movielens-b-less-bias-than-latent-bandits",
        where=f"{ROBUST}2nd paragraph, sentence 1",
        words="After 3000 rounds lobUCB and lobTS have less regret per round than mUCB and mTS.",
        statistic="regret of mUCB and mTS minus regret of lobUCB and lobTS, rounds 3001-4000",
        test=for_each(
            LOB_VARIANTS,
            lambda records, lob: below(records.at(), lob, LATENT_BANDITS, start=0.75),
        ),
    ),
    Claim(
        id="movielens-b-substantially-less-bias",
        where=f"{ROBUST}2nd paragraph, sentence 1: 'substantially smaller'",
        words="After 3000 rounds lobUCB and lobTS have at most half the regret per round of mUCB "
        "and mTS.",
        statistic="half the regret of mUCB and mTS minus that of lobUCB and lobTS, rounds 3001 on",
        test=for_each(LOB_VARIANTS, _half),
    ),
    Claim(
        id="movielens-b-small-bias-remains",
        where=f"{ROBUST}2nd paragraph, sentence 1: 'a small bias remains'",
        words="The regret of lobUCB and lobTS keeps growing in proportion to the horizon.",
        statistic="regret in rounds 3001-4000 minus 70% of that in rounds 1001-2000 "
        "(proportional growth: 100%, logarithmic: 42%)",
        test=for_each(LOB_VARIANTS, _linear),
    ),
    Claim(
        id="movielens-b-unstructured-overtake",
        where="Appendix B.5, last paragraph",
        words="After 2000 rounds UCB and TS have less regret per round than lobUCB and lobTS.",
        statistic="regret of lobUCB and lobTS minus regret of UCB and TS, rounds 2001-4000",
        test=for_each(
            LOB_VARIANTS,
            lambda records, lob: [
                *below(records.at(), "ucb", [lob], start=0.5),
                *below(records.at(), "ts", [lob], start=0.5),
            ],
        ),
    ),
)

EXPERIMENT = Experiment(
    name="figure-4a",
    place="Figure 4(a) (Section 4.2)",
    title="MovieLens, Setting B: regret per round with 160 states",
    note=f"{OWN_MEANS} {AVERAGED}",
    work=WORK,
    draw=partial(draw_regret_by_states, per_round=True),
    claims=CLAIMS,
)
