"""Figure 4(b): MovieLens, Setting B, regret at T = 500 against the number of states."""

from typing import TYPE_CHECKING

from lobandits.experiments.claims import Claim, Evidence, all_of, any_of
from lobandits.experiments.compare import BELIEVING, PLAIN, below, by_policy
from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import Canvas, draw_ends
from lobandits.experiments.movielens import RAW, SHOWN, sweep

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STATES = (5, 10, 20, 40, 60, 80, 100, 120, 140, 160)
FEW = 20
"""A small number of states is at most this."""


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the one panel."""
    figure, (place,) = canvas.panels(1)
    records = found.along("n_states")
    draw_ends(place, records, SHOWN)
    place.set_xlabel("number of states $m$")
    place.set_ylabel(f"cumulative regret at $T={next(iter(records.values())).horizon}$")
    return figure


def _few_suffice(found: Found, policy: str) -> Evidence:
    few = [(m, record) for m, record in found.along("n_states").items() if m <= FEW]
    return any_of(all_of(below(r, (policy,), PLAIN, where=f", m = {m}")).decisive for m, r in few)


def _stay_best(found: Found, policy: str) -> Evidence:
    many = [(m, record) for m, record in found.along("n_states").items() if m > FEW]
    rivals = (*PLAIN, *BELIEVING)
    return all_of(e for m, r in many for e in below(r, (policy,), rivals, where=f", m = {m}"))


CLAIMS = (
    Claim(
        id="movielens-b-few-states-suffice",
        where="Section 4.2, 'LOB algorithms are robust', 2nd paragraph, sentence 2",
        words="At T = 500 some m of at most 20 lets lobUCB and lobTS beat UCB and TS.",
        statistic="at each m <= 20 the weakest of: regret of UCB and TS minus that of lobUCB and "
        "lobTS; one m is enough",
        test=by_policy(_few_suffice),
    ),
    Claim(
        id="movielens-b-lob-preferable",
        where="Section 4.2, 'LOB algorithms are robust', 2nd paragraph, sentence 2",
        words="At T = 500, lobUCB and lobTS beat all others as m grows.",
        statistic="regret of UCB, TS, mUCB and mTS minus that of lobUCB and lobTS, at each m > 20",
        test=by_policy(_stay_best),
    ),
)

EXPERIMENT = Experiment(
    name="figure-4b",
    place="Figure 4(b) (Section 4.2)",
    title="MovieLens, Setting B: regret at T = 500 against the number of states",
    note="Users' means are their own, and comply with no order.",
    work=(sweep(500, n_states=STATES, alpha=(RAW,)),),
    draw=draw,
    claims=CLAIMS,
    on_ratings=True,
)
