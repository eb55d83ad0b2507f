"""Hasse diagrams: a line leads from each arm down to those directly below it.

Lengths are in ems (the size of the labels' font); x grows to the right, y down.
"""

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.plots import EM, FONT_SIZE, PAGE_WIDTH, figure_of
from lobandits.orders.closure import closure, reduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.orders.partial import PartialOrder


MARGIN = 1.0  # around a diagram, in ems
WRAP = 18
SWEEPS = 8
GAP = 1.6
LINE = 1.25
LAYER_GAP = 2.0
SLANT = 0.1  # more gap between layers, the more their lines slant
MOST_SLANT = 4.0


def plot_hasse(
    orders: Sequence["PartialOrder"], titles: Sequence[str], ax: "Axes | None" = None
) -> "Figure":
    """Draw one diagram per order, the best arms on top; arms with none above are shaded."""
    layouts = [lay_out(order.precedes, order.arms) for order in orders]
    wide = max(layout.width for layout in layouts) + 2 * MARGIN
    high = max(layout.height for layout in layouts) + 2 * MARGIN
    axes = _diagram_axes(len(layouts), wide, high) if ax is None else [ax]
    font_size = FONT_SIZE if ax is None else _fitting_font_size(ax, wide, high)
    for order, layout, title, place in zip(orders, layouts, titles, axes, strict=True):
        for line in layout.lines:
            place.plot(*line.T, color="0.55", linewidth=1.1, zorder=1)
        for label, (x, y), best in zip(layout.labels, layout.places, order.maximal, strict=True):
            shade = "#cfe3f5" if best else "white"
            box = {"boxstyle": "round,pad=0.3", "facecolor": shade, "edgecolor": "0.4"}
            text = place.text(x, y, label, ha="center", va="center", fontsize=font_size, bbox=box)
            text.set_parse_math(False)
        place.set_xlim((layout.width - wide) / 2, (layout.width + wide) / 2)
        place.set_ylim(high - MARGIN, -MARGIN)
        place.set_title(title, fontsize=FONT_SIZE + 1)
        place.set_axis_off()
    return figure_of(axes[0])


def _diagram_axes(count: int, wide: float, high: float) -> list["Axes"]:
    """Return axes for each diagram, in a figure just large enough for all."""
    from matplotlib.figure import Figure

    width = max(wide, 8.0) * EM
    columns = min(max(int(PAGE_WIDTH / width), 1), count)
    rows = math.ceil(count / columns)
    size = (columns * (width + EM), rows * (high + 3) * EM)
    figure = Figure(figsize=size, layout="constrained")
    return [figure.add_subplot(rows, columns, i + 1) for i in range(count)]


def _fitting_font_size(ax: "Axes", wide: float, high: float) -> float:
    """Return the font size with which a diagram fits into the caller's axes."""
    box = ax.get_window_extent()
    return min(FONT_SIZE, min(box.width / wide, box.height / high) * 72 / figure_of(ax).dpi)


class Layout(NamedTuple):
    """One diagram: the label and place of each arm, and the lines between them."""

    labels: list[str]
    places: FloatArray
    lines: list[FloatArray]
    width: float
    height: float


def lay_out(above: BoolArray, arms: tuple[str, ...]) -> Layout:
    """Place the arms of one order (k, k): connected parts side by side, free arms last."""
    direct = reduction(above)
    labels = [wrapped(name) for name in arms]
    widths = np.array([label_width(label) for label in labels])
    places = np.zeros((len(arms), 2))
    lines: list[FloatArray] = []
    left = 0.0
    for part in _parts(direct):
        links = direct[np.ix_(part, part)]
        free = not links.any()  # such arms stand in a column, like a chain without lines
        spots, routes = _place(np.eye(len(part), k=1) > 0 if free else links, widths[part])
        shift = np.array([left - (spots[:, 0] - widths[part] / 2).min(), 0.0])
        places[part] = spots + shift
        lines += [] if free else [route + shift for route in routes]
        left = (places[part, 0] + widths[part] / 2).max() + GAP
    tall = max(label.count("\n") + 1 for label in labels) * LINE
    slant = max((np.abs(np.diff(line[:, 0])).max() for line in lines), default=0.0)
    step = tall + LAYER_GAP + min(SLANT * slant, MOST_SLANT)
    places[:, 1] = places[:, 1] * step + tall / 2
    drawn = [_drawn(line, tall, step) for line in lines]
    return Layout(labels, places, drawn, left - GAP, places[:, 1].max() + tall / 2)


def _drawn(route: FloatArray, tall: float, step: float) -> FloatArray:
    """Return a line that is upright within layers and slants only between them."""
    x, middle = route[:, 0], route[:, 1] * step + tall / 2
    ends = np.column_stack([middle - tall / 2, middle + tall / 2])
    ends[0, 0], ends[-1, 1] = middle[0], middle[-1]
    return np.column_stack([x.repeat(2), ends.ravel()])


def wrapped(name: str) -> str:
    """Return ``name`` on lines of at most `WRAP` characters, at most three of them."""
    return "\n".join(textwrap.wrap(name, WRAP, max_lines=3, placeholder="…"))


def label_width(label: str) -> float:
    """Return a generous estimate of a label's width."""
    return max(sum(map(_letter_width, line)) for line in label.split("\n"))


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.62


def _parts(direct: BoolArray) -> list[list[int]]:
    """Return the arms of each connected part by its first arm, then free arms by columns."""
    near = closure(direct | direct.T | np.eye(len(direct), dtype=np.bool_))
    first = near.argmax(axis=1)
    groups = [np.flatnonzero(first == arm).tolist() for arm in np.unique(first)]
    free = [group[0] for group in groups if len(group) == 1]
    rows = math.ceil(math.sqrt(len(direct)))
    columns = [free[i : i + rows] for i in range(0, len(free), rows)]
    return [group for group in groups if len(group) > 1] + columns


def _place(direct: BoolArray, widths: FloatArray) -> tuple[FloatArray, list[FloatArray]]:
    """Place one connected part: (x, layer) of each arm, and a line for each direct relation.

    A relation that passes layers gets a bend in each of them, which takes up room as an arm
    does: so no line runs through a label.
    """
    k = len(direct)
    depth = np.zeros(k, dtype=np.int64)  # the longest path down to each arm
    for _ in range(k):
        depth = (direct * (depth[:, None] + 1)).max(axis=0)
    layer_of: list[int] = depth.tolist()
    routes = []
    for a, b in np.argwhere(direct).tolist():
        bends = range(layer_of[a] + 1, layer_of[b])
        routes.append([a, *range(len(layer_of), len(layer_of) + len(bends)), b])
        layer_of += bends
    down = np.zeros((len(layer_of), len(layer_of)))
    for route in routes:
        down[route[:-1], route[1:]] = 1.0
    x = _sweep(np.array(layer_of), down, np.pad(widths, (0, len(layer_of) - k)))
    spots = np.column_stack([x, layer_of])
    return spots[:k], [spots[route] for route in routes]


def _sweep(layer_of: IntArray, down: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the x of arms and bends: each layer in turn moves towards its neighbours.

    Pushing to the right and pushing to the left both keep the distances; so does their mean.
    """
    x = np.arange(len(widths), dtype=np.float64)
    layers = range(layer_of.max() + 1)
    for sweep in range(SWEEPS):
        near = down if sweep % 2 else down.T
        for depth in layers[::-1] if sweep % 2 else layers:
            layer = np.flatnonzero(layer_of == depth)
            count = near[layer].sum(axis=1)
            wanted = np.where(count > 0, near[layer] @ x / np.maximum(count, 1), x[layer])
            order = wanted.argsort(kind="stable")
            layer = layer[order]
            apart = (widths[layer] + GAP).cumsum() - widths[layer] / 2
            slack = wanted[order] - apart
            right = np.maximum.accumulate(slack)
            left = np.minimum.accumulate(slack[::-1])[::-1]
            x[layer] = apart + (left + right) / 2
    return x
