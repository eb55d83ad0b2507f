"""Figure 3(a), Section 4.2: regret against the horizon on MovieLens, where the orders hold."""

from lobandits.paper.claims import Claim, Estimate, all_of, below, estimate, for_each
from lobandits.paper.drawing import Canvas, draw_regret
from lobandits.paper.experiment import Experiment
from lobandits.paper.figures.movielens_task import (
    EXPLOITS,
    FAIR_RIVALS,
    HAVE_C,
    LINEAR,
    PACES,
    SETTING_A,
    SHOWN,
    sweep,
)
from lobandits.paper.parts import Records
from lobandits.paper.parts.policies import (
    C_VALUES,
    LATENT_BANDITS,
    LOBTS_TENTH,
    LOBUCB_TENTH,
    MTS_VARIANTS,
    TOP_ARMS,
    UNSTRUCTURED,
    policy_title,
)

PLAYERS = {"all users": 0.0, "users held out": 0.5}
"""As in the paper, and users who had no part in learning the states: small editions have only few
users for each state, and then the means that mTS believes are nearly the user's own."""
TAUGHT = "taught by logs"
WORK = (
    sweep(n_states=(60,), alpha=(SETTING_A,), hold_out=tuple(PLAYERS.values())),
    sweep(n_states=(60,), alpha=(SETTING_A,), policies=HAVE_C, c=tuple(C_VALUES.values())),
    sweep(
        n_states=(60,),
        alpha=(SETTING_A,),
        hold_out=(0.5,),
        policies=("popular", "mixts"),
        name=TAUGHT,
    ),
)
RIVALS = (*UNSTRUCTURED, *LATENT_BANDITS)


def draw(records: Records, canvas: Canvas) -> None:
    """Draw all users, and those held out."""
    panels = {name: records.at(hold_out=share) for name, share in PLAYERS.items()}
    draw_regret(canvas, panels, SHOWN)


def _mts_linear(records: Records, share: float) -> list[Estimate]:
    record = records.at(hold_out=share)
    late, early = record.between("mts", 0.75, 1.0), record.between("mts", 0.25, 0.5)
    what = "regret of mTS in the last quarter minus 70% of that in the second"
    return [estimate(what, late - LINEAR * early, record)]


def _all_with_c(records: Records, c: float) -> list[Estimate]:
    return below(records.at(c=c), LOBTS_TENTH, (*RIVALS, LOBUCB_TENTH))


def _rivals_with_any_c(records: Records, rivals: tuple[str, ...]) -> list[Estimate]:
    own = records.at(hold_out=0.0)
    return [
        difference
        for name, c in {"c = sigma": 1.0, **C_VALUES}.items()
        for difference in below(
            own,
            LOBTS_TENTH,
            rivals,
            where=f" with {name}",
            rivals_in=own if c == 1 else records.at(c=c),
        )
    ]


def _rivals_taught(records: Records) -> list[Estimate]:
    own, taught = records.at(hold_out=0.5), records.at(policies=TAUGHT)
    return below(own, LOBTS_TENTH, taught.labels, rivals_in=taught)


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
        id="movielens-a-lobts-beats-fair-rivals",
        where=f"{EXPLOITS}sentence 1; these rivals are drawn in no figure there",
        words="In Setting A with 60 states, lobTS also beats rivals that know as much or less.",
        statistic="regret of each such rival minus regret of lobTS, at T = 4000",
        test=lambda records: {
            **{
                f"{policy_title(rival)}, {name}": all_of(
                    below(records.at(hold_out=share), LOBTS_TENTH, [rival])
                )
                for name, share in PLAYERS.items()
                for rival in FAIR_RIVALS
            },
            "Popular and MixTS, users held out": all_of(_rivals_taught(records)),
        },
    ),
    Claim(
        id="movielens-a-lobts-best-with-other-c",
        where=f"{EXPLOITS}sentence 1; c is not varied there",
        words="lobTS has the least regret also where all policies have another c.",
        statistic="regret of each other policy minus regret of lobTS, all with that c",
        test=for_each({name: (c,) for name, c in C_VALUES.items()}, _all_with_c),
    ),
    Claim(
        id="movielens-a-lobts-best-with-any-c",
        where=f"{EXPLOITS}sentence 1; c is not varied there",
        words="lobTS with c = sigma has the least regret also where rivals may choose their c.",
        statistic="regret of each rival with each c minus regret of lobTS",
        test=for_each(
            {
                "UCB, TS, mUCB, mTS and lobUCB": ((*RIVALS, LOBUCB_TENTH),),
                "top-arms UCB": ((TOP_ARMS,),),
            },
            _rivals_with_any_c,
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
    "the states, and the others play. lobUCB, narrow has the radius of UCB; TS, priors by arm "
    "knows each genre's mean and spread over the users who shaped the states.",
    work=WORK,
    draw=draw,
    claims=CLAIMS,
)
