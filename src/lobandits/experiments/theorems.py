"""What each kind of bandit knows (Figure 1), must pay (Theorem 1), and lobUCB pays at most (2)."""

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.claims import ONCE, Claim, Estimate, by, estimate, trend
from lobandits.experiments.design import SIGMAS, Experiment, Found, Survey
from lobandits.experiments.draw import INK, Canvas, draw_band
from lobandits.experiments.record import Record
from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation import Synthetic, simulate
from lobandits.theory import lobucb_regret_bound, regret_lower_bound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTIAL = LatentOrders.from_relations(3, [[(0, 1), (0, 2)], [(1, 0), (2, 0)]])
TOTAL = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
MEANS = np.array([[0.6, 0.3, 0.1], [0.12, 0.3, 0.58], [0.3, 0.6, 0.1]])
COLOURS = ("#d55e00", "#0072b2", "#009e73")
CORNERS = np.array([[0.5, np.sqrt(0.75)], [0.0, 0.0], [1.0, 0.0]])
"""Where the means (1, 0, 0), (0, 1, 0) and (0, 0, 1) stand."""
SIX = {
    ranking: np.array([np.eye(3)[list(ranking[:n])].mean(axis=0) for n in (1, 2, 3)])
    for ranking in permutations(range(3))
}
"""Each total order's triangle: its best arm alone, its two best, and all three."""

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
HORIZON = 500
CONSTANTS = {"printed": "constants of the printed proof", "corrected": "corrected constants"}


def draw_knowledge(found: Found, canvas: Canvas) -> None:
    """Draw the simplex four times: all of it, unions of triangles, triangles, points."""
    axes = canvas.panels(4, columns=4, wide=2.3, high=2.5)
    titles = (
        "(a) MAB: any means",
        "(b) LOB, partial orders",
        "(c) LOB, total orders",
        "(d) LB: known means",
    )
    for place, title in zip(axes, titles, strict=True):
        _outline(place, title)
    axes[0].fill(*CORNERS.T, color="#8c8c8c", alpha=0.25, linewidth=0)
    for place, orders in zip(axes[1:3], (PARTIAL, TOTAL), strict=True):
        _fill_orders(place, orders)
    for state, means in enumerate(MEANS):
        x, y = means @ CORNERS
        axes[3].plot(x, y, "o", color=COLOURS[state], markersize=7)
        axes[3].annotate(f"$s_{state + 1}$", (x, y), (7, 3), textcoords="offset points",
                         color=COLOURS[state])  # fmt: skip


def _outline(axes: "Axes", title: str) -> None:
    axes.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=INK, linewidth=0.8)
    for arm, (x, y) in enumerate(CORNERS):
        above = arm == 0
        axes.annotate(f"$\\mu_{arm + 1} = 1$", (x, y), (0, 4 if above else -4), ha="center",
                      textcoords="offset points", va="bottom" if above else "top")  # fmt: skip
    axes.text(-0.1, 1.16, title, fontsize=8.5)
    axes.set_aspect("equal")
    axes.set_xlim(-0.12, 1.12)
    axes.set_ylim(-0.16, 1.24)
    axes.set_axis_off()


def _fill_orders(axes: "Axes", orders: LatentOrders) -> None:
    """Fill all means that comply with some state, each state in its colour."""
    for state, order in enumerate(orders):
        middles = []
        for ranking, triangle in SIX.items():
            rank = np.argsort(ranking)
            better, worse = np.nonzero(order.precedes)
            if (rank[better] < rank[worse]).all():
                corners = triangle @ CORNERS
                axes.fill(*corners.T, color=COLOURS[state], alpha=0.35, linewidth=0.4)
                middles.append(corners.mean(axis=0))
        middle = np.mean(middles, axis=0)
        axes.annotate(f"$s_{state + 1}$", middle, ha="center", va="center")


def lower_bounds(shares: tuple[float, ...], n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return the constants c of c log T for 15 arms, 15 states and sigma = 1, by user."""
    total = Synthetic().sample(n_users, seed)
    known, orders = total.state_means, total.orders
    assert known is not None
    assert isinstance(orders, UserOrders)
    given = [(means, orders[user], total.sigma) for user, means in enumerate(total.means)]
    bounds = {
        "LB": [regret_lower_bound(*g, "lb", means) for g, means in zip(given, known, strict=True)],
        "MAB": [regret_lower_bound(*g, "mab") for g in given],
    }
    for q in shares:
        orders = Synthetic(q=q).sample(n_users, seed).orders
        assert isinstance(orders, UserOrders)
        bounds[f"LOB, q = {q:g}"] = [
            regret_lower_bound(means, orders[user], total.sigma)
            for user, means in enumerate(total.means)
        ]
    return {kind: np.array([bound.constant for bound in each]) for kind, each in bounds.items()}


def bounds_and_regret(n_users: int, seed: int) -> dict[str, FloatArray]:
    """Return lobUCB's regret and both bounds on it, for 15 arms and 15 states."""
    found: dict[str, FloatArray] = {}
    for sigma in SIGMAS:
        env = Synthetic(sigma=sigma)
        result = simulate(env, ["lobucb"], HORIZON, n_users, seed, workers=1, progress=False)
        problems = env.sample(n_users, seed)
        assert isinstance(problems.orders, UserOrders)
        found[f"regret, sigma = {sigma:g}"] = result.totals["lobucb"]
        for constant in CONSTANTS:
            bounds = [
                lobucb_regret_bound(m, problems.orders[u], sigma, HORIZON, constant=constant)
                for u, m in enumerate(problems.means)
            ]
            name = f"{constant} bound, sigma = {sigma:g}"
            found[name] = np.array([bound.regret for bound in bounds])
    return found


def _by_share(record: Record) -> dict[float, Record]:
    """Return the lower bounds of LOB as records by q."""
    return {
        float(label.split("=")[1]): Record({}, record.points, {"lob": samples})
        for label, samples in record.samples.items()
        if label.startswith("LOB")
    }


def draw_lower_bounds(found: Found, canvas: Canvas) -> None:
    """Draw the bounds against q; those that know no orders are level lines."""
    (place,) = canvas.panels(1)
    record = found.at()
    shares = _by_share(record)
    x = np.array(list(shares))
    for kind, color in {"MAB": "#8c8c8c", "LOB": "#d55e00", "LB": "#0072b2"}.items():
        lob = kind == "LOB"
        curves = [r.curve("lob") if lob else record.curve(kind) for r in shares.values()]
        mean, error = np.transpose([(m[0], e[0]) for m, e in curves])
        draw_band(place, x, mean, error, {"color": color, "marker": "o" if lob else ""})
        place.annotate(kind, (x[-1], mean[-1]), (6, 0), textcoords="offset points", color=color,
                       va="center", annotation_clip=False)  # fmt: skip
    place.set_ylim(bottom=-0.4)
    place.set_xlabel("share of revealed relations $q$")
    place.set_ylabel("regret per $\\log T$")


def draw_regret(found: Found, canvas: Canvas) -> None:
    """Draw regret beside its bounds."""
    (place,) = canvas.panels(1, high=2.2)
    record = found.at()
    for row, label in enumerate(record.labels):
        (mean,), (error,) = record.curve(label)
        color = "#e69f00" if label.startswith("regret") else "#8c8c8c"
        place.barh(row, mean, xerr=error, color=color, height=0.6)
        place.annotate(f"{mean:,.0f}", (mean, row), (5, 0), textcoords="offset points",
                       va="center", fontsize=8)  # fmt: skip
    place.set_yticks(range(len(record.labels)), list(record.labels))
    place.invert_yaxis()
    place.set_xscale("log")
    place.margins(x=0.15)
    place.set_xlabel(f"cumulative regret at $T={HORIZON}$")


def _ordered(found: Found) -> list[Estimate]:
    lb, lob, mab = (found.at().total(label) for label in ("LB", "LOB, q = 1", "MAB"))
    return [estimate("LOB minus LB", lob - lb), estimate("MAB minus LOB", mab - lob)]


def _bounded(found: Found, sigma: float, constant: str) -> list[Estimate]:
    bound = found.at().total(f"{constant} bound, sigma = {sigma:g}")
    return [estimate("bound minus regret", bound - found.at().total(f"regret, sigma = {sigma:g}"))]


FIGURE_1 = Experiment(
    name="figure-1",
    place="Figure 1 (Section 2.1)",
    title="What each kind of bandit knows of three reward means on the 2-simplex",
    note="MAB: nothing. LOB: each state's order, partial or total; any means in the coloured "
    "regions are possible. LB: one vector of means for each state s.",
    draw=draw_knowledge,
)

THEOREM_1 = Experiment(
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
    draw=draw_lower_bounds,
    claims=(
        Claim(
            id="lower-bounds-ordered",
            where="Section 2.1, after Theorem 1",
            words="The lower bound on regret is least for LB, larger for LOB, largest for MAB.",
            statistic="bound of LOB minus that of LB, and of MAB minus that of LOB, per log T",
            test=by(ONCE, _ordered),
        ),
        Claim(
            id="lower-bound-falls-with-relations",
            where="Section 5, 'Limitations', sentence 1",
            words="The lower bound falls as relations are added.",
            statistic="minus each user's slope of the LOB bound over q",
            test=by(
                ONCE,
                lambda found: [estimate("fall per q", -trend(_by_share(found.at()), "lob"))],
            ),
        ),
    ),
    value="regret per log T",
)

THEOREM_2 = Experiment(
    name="theorem-2",
    place="Theorem 2 (Section 3.1)",
    title="lobUCB's regret against its guarantee",
    note="Synthetic, 15 arms, 15 states.",
    work=(
        Survey(
            name="bounds",
            measure=bounds_and_regret,
            options={
                "tiny": {"n_users": 8},
                "default": {"n_users": 100},
                "full": {"n_users": 400},
            },
        ),
    ),
    draw=draw_regret,
    claims=(
        Claim(
            id="lobucb-bound",
            where="Theorem 2 (Section 3.1), proof in Appendix A",
            words="lobUCB's expected regret stays below the bound of the theorem.",
            statistic="bound minus lobUCB's regret at T = 500, by user",
            test=by(
                {
                    f"sigma = {sigma:g}, {name}": (sigma, constant)
                    for sigma in SIGMAS
                    for constant, name in CONSTANTS.items()
                },
                _bounded,
            ),
        ),
    ),
)
