"""Figure 4(a), Section 4.2: regret per round on MovieLens, where users have their own means."""

from lobandits.experiments.claims import Claim, below, for_each
from lobandits.experiments.drawing import Canvas
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.movielens_task import (
    AVERAGED,
    LOB_VARIANTS,
    OWN_MEANS,
    ROBUST,
    SETTING_B,
    draw_regret_by_states,
    sweep,
)
from lobandits.experiments.parts import Records
from lobandits.experiments.policy_names import LATENT_BANDITS

WORK = (sweep(n_states=(160,), alpha=(SETTING_B,)),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw one panel."""
    draw_regret_by_states(records, canvas, per_round=True)


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
    draw=draw,
    claims=CLAIMS,
)
