"""Figures 3(a), 4(a), 4(b), and 6 to 8: regret on MovieLens, where the orders hold and do not."""

from collections.abc import Sequence
from functools import partial

from lobandits.experiments.claims import (
    BELIEVING,
    LOB_TENTH,
    MTS,
    PACES,
    PLAIN,
    Claim,
    Estimate,
    all_of,
    any_of,
    below,
    below_along,
    by,
    estimate,
)
from lobandits.experiments.design import (
    FIRST,
    NARROW_TENTH,
    TENTH,
    Experiment,
    Found,
    Sweep,
)
from lobandits.experiments.draw import Canvas, draw_ends, draw_horizon

SHOWN = (*PLAIN, *BELIEVING, TENTH[0], NARROW_TENTH, TENTH[1])
WELL, RAW = 0.0, 1.0
"""Alpha of Setting A, where the orders hold, and of Setting B, the users' own means."""
PLAYERS = {"all users": 0.0, "users held out": 0.5}
"""As in the paper, and users who had no part in learning the states: small editions have only few
users for each state, and then the means that mTS believes are nearly the user's own."""
LINEAR = 0.7
"""Between the regret of rounds 3001 to 4000 over that of 1001 to 2000 if it grows in proportion
to T (1), and if it grows like log T (0.42)."""
FEW = 20
"""A small number of states is at most this."""
EXPLOITS = "Section 4.2, 'LOB exploits structure', "
ROBUST = "Section 4.2, 'LOB algorithms are robust', 2nd paragraph, "
AVERAGED = "Moving average of 20 rounds, at every 20th."
OWN_MEANS = "Users' means are their own, and comply with no order."


def sweep(
    horizon: int = 4000,
    *,
    n_states: Sequence[int],
    alpha: Sequence[float],
    hold_out: Sequence[float] = (0.0,),
) -> Sweep:
    """Return the MovieLens task over the number of states, alpha, and users held out.

    Its policies are the paper's, then those that show what an option changes.
    """
    return Sweep(
        environment="movielens",
        axes={"n_states": n_states, "alpha": alpha, "hold_out": hold_out},
        fixed={"sigma": 2.0},
        policies=(*PLAIN, *BELIEVING, *TENTH, FIRST, NARROW_TENTH, "lobucb", "lobts"),
        horizon=horizon,
        users={"default": 100, "full": 100},
    )


def _draw_players(found: Found, canvas: Canvas) -> None:
    panels = {name: found.at(hold_out=share) for name, share in PLAYERS.items()}
    draw_horizon(canvas, panels, SHOWN, wide=8.6)


def _draw_states(found: Found, canvas: Canvas, slope: bool) -> None:
    panels = {f"$m={m}$ states": record for m, record in found.along("n_states").items()}
    draw_horizon(canvas, panels, SHOWN, columns=max(len(panels), 2), slope=slope)


def _draw_number_of_states(found: Found, canvas: Canvas) -> None:
    (place,) = canvas.panels(1)
    draw_ends(place, found.along("n_states"), SHOWN, "number of states $m$")


def _mts_linear(found: Found, share: float) -> list[Estimate]:
    record = found.at(hold_out=share)
    late, early = record.between("mts", 0.75, 1.0), record.between("mts", 0.25, 0.5)
    what = "regret of mTS in the last quarter minus 70% of that in the second"
    return [estimate(what, late - LINEAR * early)]


def _few_suffice(found: Found, policy: str) -> list[Estimate]:
    few = [(m, record) for m, record in found.along("n_states").items() if m <= FEW]
    return [all_of(below(r, policy, PLAIN, where=f", m = {m}")).decisive for m, r in few]


def _bias_falls(found: Found, policy: str) -> list[Estimate]:
    few, *_, many = found.along("n_states").values()
    less = few.between(policy, 0.75, 1.0) - many.between(policy, 0.75, 1.0)
    return [estimate("regret with 5 states minus that with 140", less)]


FIGURE_3A = Experiment(
    name="figure-3a",
    place="Figure 3(a) (Section 4.2)",
    title="MovieLens, Setting A: regret against the horizon",
    note="60 states; users' means comply with the order of their state. As in the paper, lobUCB "
    "and lobTS project every tenth round. Left as in the paper; right, half of the users learn "
    "the states, and the others play. lobUCB, narrow has the radius of UCB.",
    work=(sweep(n_states=(60,), alpha=(WELL,), hold_out=tuple(PLAYERS.values())),),
    draw=_draw_players,
    claims=(
        Claim(
            id="movielens-a-lobts-best",
            where=f"{EXPLOITS}sentence 1",
            words="In Setting A with 60 states, lobTS has the least regret of all.",
            statistic="regret of each other policy minus regret of lobTS, at T = 4000",
            test=by(
                {
                    f"{pace}, {name}": (share, *policies)
                    for name, share in PLAYERS.items()
                    for pace, policies in PACES.items()
                },
                lambda found, share, lobucb, lobts: below(
                    found.at(hold_out=share), lobts, (*PLAIN, *BELIEVING, lobucb)
                ),
            ),
        ),
        Claim(
            id="movielens-a-mts-quick",
            where=f"{EXPLOITS}sentence 2",
            words="mTS quickly reaches a low regret per round.",
            statistic="regret of UCB and TS minus regret of mTS, in the first 200 rounds",
            test=by(
                {
                    f"{name}{option}": (share, mts)
                    for name, share in PLAYERS.items()
                    for option, mts in MTS.items()
                },
                lambda found, share, mts: below(found.at(hold_out=share), mts, PLAIN, stop=0.05),
            ),
        ),
        Claim(
            id="movielens-a-mts-linear",
            where=f"{EXPLOITS}sentence 2",
            words="mTS believes wrong means, so its regret grows in proportion to the horizon.",
            statistic="mTS's regret in rounds 3001-4000 minus 70% of that in rounds 1001-2000 "
            "(proportional growth: 100%, logarithmic: 42%)",
            test=by({name: (share,) for name, share in PLAYERS.items()}, _mts_linear),
        ),
    ),
)

FIGURE_4A = Experiment(
    name="figure-4a",
    place="Figure 4(a) (Section 4.2)",
    title="MovieLens, Setting B: regret per round with 160 states",
    note=f"{OWN_MEANS} {AVERAGED}",
    work=(sweep(n_states=(160,), alpha=(RAW,)),),
    draw=partial(_draw_states, slope=True),
    claims=(
        Claim(
            id="movielens-b-less-bias-than-latent-bandits",
            where=f"{ROBUST}sentence 1",
            words="After 3000 rounds lobUCB and lobTS have less regret per round than mUCB and "
            "mTS.",
            statistic="regret of mUCB and mTS minus regret of lobUCB and lobTS, rounds 3001-4000",
            test=by(LOB_TENTH, lambda found, lob: below(found.at(), lob, BELIEVING, start=0.75)),
        ),
        Claim(
            id="movielens-b-unstructured-overtake",
            where="Appendix B.5, last paragraph",
            words="After 2000 rounds UCB and TS have less regret per round than lobUCB and lobTS.",
            statistic="regret of lobUCB and lobTS minus regret of UCB and TS, rounds 2001-4000",
            test=by(
                LOB_TENTH,
                lambda found, lob: [
                    *below(found.at(), "ucb", [lob], start=0.5),
                    *below(found.at(), "ts", [lob], start=0.5),
                ],
            ),
        ),
    ),
)

FIGURE_4B = Experiment(
    name="figure-4b",
    place="Figure 4(b) (Section 4.2)",
    title="MovieLens, Setting B: regret at T = 500 against the number of states",
    note=OWN_MEANS,
    work=(sweep(500, n_states=(5, 10, 20, 40, 60, 80, 100, 120, 140, 160), alpha=(RAW,)),),
    draw=_draw_number_of_states,
    claims=(
        Claim(
            id="movielens-b-few-states-suffice",
            where=f"{ROBUST}sentence 2",
            words="At T = 500 some m of at most 20 lets lobUCB and lobTS beat UCB and TS.",
            statistic="at each m <= 20 the weakest of: regret of UCB and TS minus that of lobUCB "
            "and lobTS; one m is enough",
            test=by(LOB_TENTH, _few_suffice, any_of),
        ),
        Claim(
            id="movielens-b-lob-preferable",
            where=f"{ROBUST}sentence 2",
            words="At T = 500, lobUCB and lobTS beat all others as m grows.",
            statistic="regret of UCB, TS, mUCB and mTS minus that of lobUCB and lobTS, at each "
            "m > 20",
            test=by(
                LOB_TENTH,
                lambda found, lob: below_along(
                    found, "n_states", lob, (*PLAIN, *BELIEVING), lambda m: m > FEW
                ),
            ),
        ),
    ),
)

FIGURE_6 = Experiment(
    name="figure-6",
    place="Figure 6 (Appendix B.5)",
    title="MovieLens, Setting A: regret per round with 60 states",
    note=AVERAGED,
    work=(sweep(n_states=(60,), alpha=(WELL,)),),
    draw=partial(_draw_states, slope=True),
    claims=(
        Claim(
            id="movielens-a-lob-soon-low",
            where=f"{EXPLOITS}sentence 1",
            words="In Setting A, lobUCB and lobTS quickly reach a low regret per round.",
            statistic="regret of UCB and TS minus regret of lobUCB and lobTS, rounds 501-1000",
            test=by(LOB_TENTH, lambda found, lob: below(found.at(), lob, PLAIN, 0.125, 0.25)),
        ),
    ),
)

FIGURE_7 = Experiment(
    name="figure-7",
    place="Figure 7 (Appendix B.5)",
    title="MovieLens, Setting A: regret against the horizon for m = 10, 20 and 80",
    work=(sweep(n_states=(10, 20, 80), alpha=(WELL,)),),
    draw=partial(_draw_states, slope=False),
    claims=(
        Claim(
            id="movielens-a-lobts-best-for-other-m",
            where=f"{EXPLOITS}last sentence",
            words="With 10, 20 and 80 states, too, lobTS has the least regret of all.",
            statistic="regret of each other policy minus regret of lobTS, at T = 4000 and each m",
            test=by(
                PACES,
                lambda found, lobucb, lobts: below_along(
                    found, "n_states", lobts, (*PLAIN, *BELIEVING, lobucb)
                ),
            ),
        ),
    ),
)

FIGURE_8 = Experiment(
    name="figure-8",
    place="Figure 8 (Appendix B.5)",
    title="MovieLens, Setting B: regret per round for m = 5, 20 and 140",
    note=AVERAGED,
    work=(sweep(n_states=(5, 20, 140), alpha=(RAW,)),),
    draw=partial(_draw_states, slope=True),
    claims=(
        Claim(
            id="movielens-b-bias-falls-with-m",
            where="Appendix B.5, last paragraph, sentence 2",
            words="With more states the late regret of lobUCB and lobTS is smaller.",
            statistic="regret in rounds 3001-4000 with m = 5 minus that with m = 140, by user",
            test=by(LOB_TENTH, _bias_falls),
        ),
    ),
)
