"""Theorem 1: what any good policy must pay, by what it knows."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import Claim, Evidence, all_of, estimate
from lobandits.experiments.compare import trend
from lobandits.experiments.design import Experiment, Found, Survey
from lobandits.experiments.draw import Canvas, draw_band
from lobandits.experiments.record import Record
from lobandits.orders import UserOrders
from lobandits.simulation import Synthetic
from lobandits.theory import regret_lower_bound

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def lower_bounds(shares: tuple[float, ...], n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return the constants c of c log T for 15 arms, 15 states and sigma = 1, by user."""
    total = Synthetic().sample(n_users, seed)
    known = total.state_means
    found = {
        kind: np.zeros(n_users) for kind in ("LB", "MAB", *(f"LOB, q = {q:g}" for q in shares))
    }
    for q in shares:
        orders = Synthetic(q=q).sample(n_users, seed).orders
        assert isinstance(orders, UserOrders)
        for user, means in enumerate(total.means):
            bound = regret_lower_bound(means, orders[user], total.sigma)
            found[f"LOB, q = {q:g}"][user] = bound.constant
    assert known is not None
    assert isinstance(total.orders, UserOrders)
    for user, means in enumerate(total.means):
        given = (means, total.orders[user], total.sigma)
        found["LB"][user] = regret_lower_bound(*given, "lb", known[user]).constant
        found["MAB"][user] = regret_lower_bound(*given, "mab").constant
    return found


def _by_share(record: Record) -> dict[float, Record]:
    """Return the bounds of LOB as records by q."""
    labels = [label for label in record.labels if label.startswith("LOB")]
    return {
        float(label.split("=")[1]): Record({}, record.points, {"lob": record.samples[label]})
        for label in labels
    }


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the bounds against q; those that know no orders are level lines."""
    figure, (place,) = canvas.panels(1)
    record = found.at()
    shares = _by_share(record)
    x = np.array(list(shares))
    colours = {"MAB": "#8c8c8c", "LOB": "#d55e00", "LB": "#0072b2"}
    for kind, color in colours.items():
        curves = [r.curve("lob") if kind == "LOB" else record.curve(kind) for r in shares.values()]
        mean, error = np.transpose([(m[0], e[0]) for m, e in curves])
        marker = "o" if kind == "LOB" else ""
        draw_band(place, x, mean, error, {"color": color, "marker": marker}, marks=True)
        place.annotate(kind, (x[-1], mean[-1]), (6, 0), textcoords="offset points", color=color,
                       va="center", annotation_clip=False)  # fmt: skip
    place.set_ylim(bottom=-0.4)
    place.set_xlabel("share of revealed relations $q$")
    place.set_ylabel("regret per $\\log T$")
    return figure


def _ordered(found: Found) -> dict[str, Evidence]:
    record = found.at()
    lb, lob, mab = (record.total(label) for label in ("LB", "LOB, q = 1", "MAB"))
    pairs = (("LOB minus LB", lob - lb), ("MAB minus LOB", mab - lob))
    return {"": all_of(estimate(what, values) for what, values in pairs)}


def _decreasing(found: Found) -> dict[str, Evidence]:
    return {"": all_of([estimate("fall per q", -trend(_by_share(found.at()), "lob"))])}


CLAIMS = (
    Claim(
        id="lower-bounds-ordered",
        where="Section 2.1, after Theorem 1",
        words="The lower bound on regret is least for LB, larger for LOB, largest for MAB.",
        statistic="bound of LOB minus that of LB, and of MAB minus that of LOB, per log T",
        test=_ordered,
    ),
    Claim(
        id="lower-bound-falls-with-relations",
        where="Section 5, 'Limitations', sentence 1",
        words="The lower bound falls as relations are added.",
        statistic="minus each user's slope of the LOB bound over q",
        test=_decreasing,
    ),
)

EXPERIMENT = Experiment(
    name="theorem-1",
    place="Theorem 1 (Section 2.1)",
    title="Least regret of any good policy, by what it knows",
    note="Synthetic, 15 arms, 15 states, sigma = 1: c in the bound c log T.",
    work=(
        Survey(
            name="bounds",
            measure=lower_bounds,
            options={
                "tiny": {"shares": (0.0, 1.0), "n_users": 3},
                "default": {"shares": SHARES, "n_users": 20},
                "full": {"shares": SHARES, "n_users": 200},
            },
        ),
    ),
    draw=draw,
    claims=CLAIMS,
    value="regret per log T",
)
