"""What all figures share: panels, lines with bands, labels that cover no data, SVG for a page.

Figure 1, which shows no numbers, is drawn here, too.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.design import Experiment, Found, policy_title
from lobandits.experiments.parts import Record
from lobandits.orders import LatentOrders
from lobandits.simulation.report import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#010203", "#d0d1d2"
"""Colours of text and of grids, which a page exchanges for its own."""
RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "font.size": 9,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.6,
    "lines.markersize": 4,
    "svg.fonttype": "none",
    "svg.hashsalt": "lobandits",
    "text.color": INK,
    "xtick.color": INK,
    "xtick.labelsize": 8,
    "ytick.color": INK,
    "ytick.labelsize": 8,
}
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


@dataclass
class Canvas:
    """A page: wide, or narrow like a phone, which has half as many panels in a row."""

    figure: "Figure"
    narrow: bool

    def panels(
        self, n: int, columns: int = 2, wide: float = 4.3, high: float = 2.9
    ) -> "list[Axes]":
        """Return ``n`` panels of that size in inches, filled row by row."""
        columns = min(max(columns // 2, 1) if self.narrow else columns, n)
        rows = -(-n // columns)
        self.figure.set_size_inches(wide * columns, high * rows)
        axes = list(self.figure.subplots(rows, columns, squeeze=False).flat)
        for unused in axes[n:]:
            unused.remove()
        for place in axes:
            place.patch.set_alpha(0)
        return axes[:n]


def draw_horizon(
    canvas: Canvas,
    panels: Mapping[str, Record],
    labels: Sequence[str],
    columns: int = 2,
    wide: float = 8.4,
    slope: bool = False,
) -> None:
    """Draw regret against the round, cumulative or per round, one panel for each title."""
    axes = canvas.panels(len(panels), columns, wide / columns)
    for place, (title, record) in zip(axes, panels.items(), strict=True):
        for label, style in line_styles(labels).items():
            mean, error = record.slope(label) if slope else record.curve(label)
            start = [] if slope else [0.0]
            x, mean, error = (np.concatenate([start, y]) for y in (record.points, mean, error))
            draw_band(place, x, mean, error, {**style, "marker": ""})
        per_round = f"regret per round (mean of {int(record.points[0])})"
        place.set(xlim=(0, record.horizon), ylim=(0, None), title=title)
        place.set(xlabel="round $t$", ylabel=per_round if slope else "cumulative regret")
        label_lines(place, labels)


def draw_ends(
    axes: "Axes", records: Mapping[Any, Record], labels: Sequence[str], name: str
) -> None:
    """Draw the regret at the horizon against the values of a sweep, which is called ``name``."""
    x = np.array(list(records), dtype=float)
    for label, style in line_styles(labels).items():
        ends = [record.curve(label) for record in records.values()]
        mean, error = np.transpose([(mean[-1], error[-1]) for mean, error in ends])
        draw_band(axes, x, mean, error, style)
    horizon = next(iter(records.values())).horizon
    axes.set(ylim=(0, None), xlabel=name, ylabel=f"cumulative regret at $T={horizon}$")
    label_lines(axes, labels)


def draw_band(
    axes: "Axes", x: FloatArray, mean: FloatArray, error: FloatArray, style: Mapping[str, Any]
) -> None:
    """Draw a line with a band of one standard error, as in the paper."""
    axes.plot(x, mean, **style)
    axes.fill_between(x, mean - error, mean + error, color=style["color"], alpha=0.22, linewidth=0)


def remark(
    axes: "Axes", text: str, at: tuple[Any, Any], by: tuple[float, float], **style: Any
) -> None:
    """Write beside a place in the data, so many points to the right and up."""
    axes.annotate(text, at, by, textcoords="offset points", **style)


def label_lines(axes: "Axes", labels: Sequence[str]) -> None:
    """Write each line's name at its right end, apart from each other, in its colour."""
    lines = axes.get_lines()[-len(labels) :]
    low, high = axes.get_ylim()
    ends = np.array([float(np.asarray(line.get_ydata())[-1]) for line in lines])
    ends = (ends - low) / (high - low)
    for line, end, place, label in zip(lines, ends, spread(ends, 0.074), labels, strict=True):
        color = line.get_color()
        axes.annotate(
            policy_title(label),
            xy=(1.0, end),
            xytext=(1.045, place),
            xycoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=color,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.7,
                "shrinkA": 1,
                "shrinkB": 0,
            },
            annotation_clip=False,
        )
    axes.set_ylim(low, high)


def spread(places: FloatArray, gap: float) -> FloatArray:
    """Move places in [0, 1] as little as possible (in squares) until all are ``gap`` apart.

    With j the rank of a place, place - j gap must not decrease: an isotonic regression, cut off
    where the first or the last place would leave the interval.

    Examples
    --------
    >>> spread(np.array([0.5, 0.5, 0.0, 0.0]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.0, 0.1]
    """
    from scipy.optimize import isotonic_regression

    order = places.argsort(kind="stable")
    steps = gap * np.arange(len(places))
    apart = np.empty_like(places)
    apart[order] = np.clip(isotonic_regression(places[order] - steps).x, 0, 1 - steps[-1]) + steps
    return apart


def render(experiment: Experiment, found: Found) -> dict[str, str]:
    """Return the experiment's figure for a screen and for a phone; nothing if it has none."""
    if experiment.draw is None:
        return {}
    from matplotlib import style
    from matplotlib.figure import Figure

    pictures = {}
    for width in ("wide", "narrow"):
        with style.context(["default", RC]):
            figure = Figure(layout="constrained")
            figure.patch.set_alpha(0)
            experiment.draw(found, Canvas(figure, width == "narrow"))
            if found.title:
                figure.suptitle(f"MovieLens, {found.title}", x=0.01, ha="left", fontsize=8)
            text = StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        pictures[width] = _inline(text.getvalue(), f"{experiment.name}-{width}")
    return pictures


def _inline(svg: str, prefix: str) -> str:
    """Return the ``<svg>`` element alone, in the colours of the page, with unique ids."""
    svg = svg[svg.index("<svg") :]
    for pattern, instead in (
        (r"(?s)<metadata>.*?</metadata>", ""),
        (r'(<svg\b[^>]*?) width="[^"]*" height="[^"]*"', r"\1"),
        (r"(\d+\.\d\d)\d+", r"\1"),
        (r'(\bid="|url\(#|href="#)', rf"\1{prefix}-"),
    ):
        svg = re.sub(pattern, instead, svg)
    return svg.replace(INK, "currentColor").replace(FAINT, "var(--faint)").strip()


def standalone(svg: str) -> str:
    """Return an inline figure as a file of its own: black on nothing."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace(
        "<svg ", '<svg style="color: #1b1f24; --faint: #dfe2e6" ', 1
    )


def _draw_knowledge(found: Found, canvas: Canvas) -> None:
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
        remark(axes[3], f"$s_{state + 1}$", (x, y), (7, 3), color=COLOURS[state])


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
        for ranking, triangle in SIX.items():
            rank = np.argsort(ranking)
            better, worse = np.nonzero(order.precedes)
            if (rank[better] < rank[worse]).all():
                corners = triangle @ CORNERS
                axes.fill(*corners.T, color=COLOURS[state], alpha=0.35, linewidth=0.4)
                middles.append(corners.mean(axis=0))
        middle = np.mean(middles, axis=0)
        axes.annotate(f"$s_{state + 1}$", middle, ha="center", va="center")


FIGURE_1 = Experiment(
    name="figure-1",
    place="Figure 1 (Section 2.1)",
    title="What each kind of bandit knows of three reward means on the 2-simplex",
    note="MAB: nothing. LOB: each state's order, partial or total; any means in the coloured "
    "regions are possible. LB: one vector of means for each state s.",
    draw=_draw_knowledge,
)
