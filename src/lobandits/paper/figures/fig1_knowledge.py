"""Figure 1, Section 2.1: what each kind of bandit knows of three means, on the 2-simplex."""

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from lobandits.orders import LatentOrders
from lobandits.paper.drawing import INK, Canvas, remark
from lobandits.paper.experiment import Experiment
from lobandits.paper.parts import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTIAL = LatentOrders.from_relations(3, [[(0, 1), (0, 2)], [(1, 0), (2, 0)]])
TOTAL = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
MEANS = np.array([[0.6, 0.3, 0.1], [0.12, 0.3, 0.58], [0.3, 0.6, 0.1]])
COLOURS = ("#d55e00", "#0072b2", "#009e73")
"""Of the states."""
CORNERS = np.array([[0.5, np.sqrt(0.75)], [0.0, 0.0], [1.0, 0.0]])
"""Where the means (1, 0, 0), (0, 1, 0) and (0, 0, 1) stand."""
TRIANGLES = {
    ranking: np.array([np.eye(3)[list(ranking[:n])].mean(axis=0) for n in (1, 2, 3)])
    for ranking in permutations(range(3))
}
"""Of each total order: its best arm alone, its two best, and all three."""


def draw(records: Records, canvas: Canvas) -> None:
    """Draw the simplex four times: all of it, unions of triangles, triangles, points."""
    panels = canvas.panels(4, columns=4, high=2.5)
    titles = (
        "(a) MAB: any means",
        "(b) LOB, partial orders",
        "(c) LOB, total orders",
        "(d) LB: known means",
    )
    for panel, title in zip(panels, titles, strict=True):
        _outline(panel, title)
    panels[0].fill(*CORNERS.T, color="#8c8c8c", alpha=0.25, linewidth=0)
    for panel, orders in zip(panels[1:3], (PARTIAL, TOTAL), strict=True):
        _fill_orders(panel, orders)
    for state, means in enumerate(MEANS):
        x, y = means @ CORNERS
        panels[3].plot(x, y, "o", color=COLOURS[state], markersize=7)
        remark(panels[3], f"$s_{state + 1}$", (x, y), (7, 3), color=COLOURS[state])


def _outline(axes: "Axes", title: str) -> None:
    axes.plot(*np.vstack([CORNERS, CORNERS[:1]]).T, color=INK, linewidth=0.8)
    for arm, (x, y) in enumerate(CORNERS):
        away, side = (4, "bottom") if arm == 0 else (-4, "top")
        remark(axes, f"$\\mu_{arm + 1} = 1$", (x, y), (0, away), ha="center", va=side)
    axes.text(-0.1, 1.16, title, fontsize=8.5)
    axes.set(aspect="equal", xlim=(-0.12, 1.12), ylim=(-0.16, 1.24))
    axes.set_axis_off()


def _fill_orders(axes: "Axes", orders: LatentOrders) -> None:
    """Fill all means that comply with some state, each state in its colour."""
    for state, order in enumerate(orders):
        middles = []
        for ranking, triangle in TRIANGLES.items():
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
    draw=draw,
)
