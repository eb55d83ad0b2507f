"""Figure 1: what each kind of bandit knows of three means that add up to 1."""

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from lobandits.experiments.design import Experiment, Found
from lobandits.experiments.draw import INK, Canvas
from lobandits.orders import LatentOrders

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def draw(found: Found, canvas: Canvas) -> "Figure":
    """Draw the simplex four times: all of it, unions of triangles, triangles, points."""
    figure, axes = canvas.panels(4, columns=4, wide=2.3, high=2.5)
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
    return figure


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


EXPERIMENT = Experiment(
    name="figure-1",
    place="Figure 1 (Section 2.1)",
    title="What each kind of bandit knows of three reward means on the 2-simplex",
    note="MAB: nothing. LOB: each state's order, partial or total; any means in the coloured "
    "regions are possible. LB: one vector of means for each state s.",
    work=(),
    draw=draw,
)
