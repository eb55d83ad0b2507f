"""Figure 3(a): MovieLens, Setting A, regret against the horizon."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import BELIEVING, MTS, PLAIN, below
from lobandits.experiments.design import TENTH, Experiment, Found
from lobandits.experiments.draw import Canvas, draw_curves
from lobandits.experiments.movielens import SHOWN, WELL, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYERS = {"all users": 0.0, "users held out": 0.5}
"""As in the paper, and users who had no part in learning the states: small editions have only few
users for each state, and then the means that mTS believes are nearly the user's own."""
EARLY = 0.05
"""Quickly: after this share of the rounds, 200 of 4000."""
LINEAR = 0.7
"""Between the regret of rounds 3001 to 4000 over that of 1001 to 2000 if it grows in proportion
to T (1), and if it grows like log T (0.42)."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw a panel for the paper's users, and one for users held out of the learning."""
    figure, axes = canvas.panels(2)
    for place, (name, share) in zip(axes, PLAYERS.items(), strict=True):
        draw_curves(place, found.at(hold_out=share), SHOWN)
        place.set_ylabel("cumulative regret")
        place.set_title(name)
    return figure


def _lobts_best(found: Found) -> dict[str, Evidence]:
    rivals = (*PLAIN, *BELIEVING)
    paces = {"projecting every 10th round": TENTH, "projecting every round": ("lobucb", "lobts")}
    return {
        f"{pace}, {name}": all_of(below(found.at(hold_out=share), (lobts,), (*rivals, lobucb)))
        for name, share in PLAYERS.items()
        for pace, (lobucb, lobts) in paces.items()
    }


def _mts_quick(found: Found) -> dict[str, Evidence]:
    return {
        f"{name}{', ' if option else ''}{option}": all_of(
            below(found.at(hold_out=share), (mts,), PLAIN, stop=EARLY)
        )
        for name, share in PLAYERS.items()
        for option, mts in MTS.items()
    }


def _mts_linear(found: Found) -> dict[str, Evidence]:
    what = "regret of mTS in the last quarter minus 70% of that in the second"
    variants = {}
    for name, share in PLAYERS.items():
        record = found.at(hold_out=share)
        late, early = record.between("mts", 0.75, 1.0), record.between("mts", 0.25, 0.5)
        variants[name] = all_of([estimate(what, late - LINEAR * early)])
    return variants


CLAIMS = (
    Claim(
        id="movielens-a-lobts-best",
        where="Section 4.2, 'LOB exploits structure', sentence 1",
        words="In Setting A with 60 states, lobTS has the least regret of all.",
        statistic="regret of each other policy minus regret of lobTS, at T = 4000",
        test=_lobts_best,
    ),
    Claim(
        id="movielens-a-mts-quick",
        where="Section 4.2, 'LOB exploits structure', sentence 2",
        words="mTS quickly reaches a low regret per round.",
        statistic="regret of UCB and TS minus regret of mTS, in the first 200 rounds",
        test=_mts_quick,
    ),
    Claim(
        id="movielens-a-mts-linear",
        where="Section 4.2, 'LOB exploits structure', sentence 2",
        words="mTS believes wrong means, so its regret grows in proportion to the horizon.",
        statistic="mTS's regret in rounds 3001-4000 minus 70% of that in rounds 1001-2000 "
        "(proportional growth: 100%, logarithmic: 42%)",
        test=_mts_linear,
    ),
)

EXPERIMENT = Experiment(
    name="figure-3a",
    place="Figure 3(a) (Section 4.2)",
    title="MovieLens, Setting A: regret against the horizon",
    note="60 states; users' means comply with the order of their state. As in the paper, lobUCB "
    "and lobTS project every tenth round. Left as in the paper; right, half of the users learn "
    "the states, and the others play. lobUCB, narrow has the radius of UCB.",
    work=(sweep(n_states=(60,), alpha=(WELL,), hold_out=tuple(PLAYERS.values())),),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
