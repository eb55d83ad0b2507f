"""Figure 3(a), Section 4.2: regret against the horizon on MovieLens, where the orders hold."""

from lobandits.experiments.claims import Claim, Estimate, below, estimate, for_each
from lobandits.experiments.drawing import Canvas, draw_regret
from lobandits.experiments.experiment import Experiment
from lobandits.experiments.figures.movielens_task import EXPLOITS, PACES, SETTING_A, SHOWN, sweep
from lobandits.experiments.parts import Records
from lobandits.experiments.policy_names import LATENT_BANDITS, MTS_VARIANTS, UNSTRUCTURED

PLAYERS = {"all users": 0.0, "users held out": 0.5}
"""As in the paper, and users who had no part in learning the states: small editions have only few
users for each state, and then the means that mTS believes are nearly the user's own."""
LINEAR = 0.7
"""Between the regret of rounds 3001 to 4000 over that of 1001 to 2000 if it grows in proportion
to T (1), and if it grows like log T (0.42)."""
WORK = (sweep(n_states=(60,), alpha=(SETTING_A,), hold_out=tuple(PLAYERS.values())),)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw all users, and those held out."""
    panels = {name: records.at(hold_out=share) for name, share in PLAYERS.items()}
    draw_regret(canvas, panels, SHOWN, wide=8.6)


def _mts_linear(records: Records, share: float) -> list[Estimate]:
    record = records.at(hold_out=share)
    late, early = record.between("mts", 0.75, 1.0), record.between("mts", 0.25, 0.5)
    what = "regret of mTS in the last quarter minus 70% of that in the second"
    return [estimate(what, late - LINEAR * early)]


CLAIMS = (
    Claim(
        id="movielens-a-lobts-best",
        where=f"{EXPLOITS}sentence 1",
        words="In Setting A with 60 states, lobTS has the least regret of all.",
        statistic="regret of each other policy minus regret of lobTS, at T = 4000",
        test=for_each(
            {
                f"{pace}, {name}": (share, *policies)
                for name, share in PLAYERS.items()
                for pace, policies in PACES.items()
            },
            lambda records, share, lobucb, lobts: below(
                records.at(hold_out=share), lobts, (*UNSTRUCTURED, *LATENT_BANDITS, lobucb)
            ),
        ),
    ),
    Claim(
        id="movielens-a-mts-quick",
        where=f"{EXPLOITS}sentence 2",
        words="mTS quickly reaches a low regret per round.",
        statistic="regret of UCB and TS minus regret of mTS, in the first 200 rounds",
        test=for_each(
            {
                f"{name}{option}": (share, mts)
                for name, share in PLAYERS.items()
                for option, mts in MTS_VARIANTS.items()
            },
            lambda records, share, mts: below(
                records.at(hold_out=share), mts, UNSTRUCTURED, stop=0.05
            ),
        ),
    ),
    Claim(
        id="movielens-a-mts-linear",
        where=f"{EXPLOITS}sentence 2",
        words="mTS believes wrong means, so its regret grows in proportion to the horizon.",
        statistic="mTS's regret in rounds 3001-4000 minus 70% of that in rounds 1001-2000 "
        "(proportional growth: 100%, logarithmic: 42%)",
        test=for_each({name: (share,) for name, share in PLAYERS.items()}, _mts_linear),
    ),
)

EXPERIMENT = Experiment(
    name="figure-3a",
    place="Figure 3(a) (Section 4.2)",
    title="MovieLens, Setting A: regret against the horizon",
    note="60 states; users' means comply with the order of their state. As in the paper, lobUCB "
    "and lobTS project every tenth round. Left as in the paper; right, half of the users learn "
    "the states, and the others play. lobUCB, narrow has the radius of UCB.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
