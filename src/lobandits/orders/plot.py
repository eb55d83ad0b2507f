"""Pictures of orders: Hasse diagrams and rank heat-maps.

In a diagram lengths are in ems (the size of the labels' font); x grows to the right, y down.
"""

import math
import textwrap
import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, one_of
from lobandits.errors import LobInputError
from lobandits.orders.arms import parse_positions
from lobandits.orders.tables import closure, reduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.orders.latent import LatentOrders
    from lobandits.orders.partial import PartialOrder

MOST_DIAGRAMS = 6
MOST_ARMS = 40
MOST_NUMBERED = 30
FONT_SIZE = 9.0
EM = FONT_SIZE / 72  # in inches
PAGE_WIDTH = 14.0  # in inches
MARGIN = 1.0  # around a diagram
WRAP = 18
SWEEPS = 8
GAP = 1.6
LINE = 1.25
LAYER_GAP = 2.0
SLANT = 0.1  # more gap between layers, the more their lines slant
MOST_SLANT = 4.0


class Layout(NamedTuple):
    """One diagram: the label and place of each arm, and the lines between them."""

    labels: list[str]
    places: FloatArray
    lines: list[FloatArray]
    width: float
    height: float


def plot_orders(
    orders: "LatentOrders", states: Sequence[int] | None, kind: str, ax: "Axes | None"
) -> "Figure":
    """Draw some states in the way that fits their number, or the way asked for."""
    some = range(orders.n_states) if states is None else states
    wanted = "a list of states' numbers"
    rows = parse_positions(some, orders.n_states, "state", wanted, least=1).tolist()
    if one_of("kind", kind, ["auto", "hasse", "ranks"]) == "auto":
        few = len(rows) <= (MOST_DIAGRAMS if ax is None else 1) and orders.n_arms <= MOST_ARMS
        kind = "hasse" if few else "ranks"
    if kind == "ranks":
        return plot_ranks(orders, rows, ax)
    if ax is not None and len(rows) > 1:
        raise LobInputError(
            f"ax holds the Hasse diagram of one state, not of {len(rows)}; choose one with "
            "states=[...], leave ax out, or use kind='ranks'"
        )
    return plot_hasse([orders[s] for s in rows], [f"state {s}" for s in rows], ax)


def plot_hasse(
    orders: Sequence["PartialOrder"], titles: Sequence[str], ax: "Axes | None" = None
) -> "Figure":
    """Draw one diagram per order, the best arms on top; arms with none above are shaded."""
    layouts = [lay_out(order.precedes, order.arms) for order in orders]
    axes = _diagram_axes(layouts) if ax is None else [ax]
    font_size = FONT_SIZE if ax is None else _fitting_font_size(ax, layouts[0])
    width = max(layout.width for layout in layouts) / 2 + MARGIN
    height = max(layout.height for layout in layouts) + MARGIN
    for order, layout, title, place in zip(orders, layouts, titles, axes, strict=True):
        _draw_diagram(place, layout, order.maximal.tolist(), font_size)
        place.set_xlim(layout.width / 2 - width, layout.width / 2 + width)
        place.set_ylim(height, -MARGIN)
        place.set_title(title, fontsize=FONT_SIZE + 1)
        place.set_axis_off()
    return _figure(axes[0])


def _diagram_axes(layouts: list[Layout]) -> list["Axes"]:
    """Return one set of axes per diagram, in a figure just large enough for all."""
    from matplotlib.figure import Figure

    width = max(max(layout.width for layout in layouts) + 2 * MARGIN, 8.0) * EM
    height = (max(layout.height for layout in layouts) + 2 * MARGIN) * EM
    columns = min(max(int(PAGE_WIDTH / width), 1), len(layouts))
    rows = math.ceil(len(layouts) / columns)
    size = (columns * (width + EM), rows * (height + 3 * EM))
    figure = Figure(figsize=size, layout="constrained")
    return [figure.add_subplot(rows, columns, i + 1) for i in range(len(layouts))]


def _fitting_font_size(ax: "Axes", layout: Layout) -> float:
    """Return the font size with which a diagram fits into the axes that the caller gave."""
    box = ax.get_window_extent()
    wide = box.width / (layout.width + 2 * MARGIN)
    high = box.height / (layout.height + 2 * MARGIN)
    return min(FONT_SIZE, min(wide, high) * 72 / _figure(ax).dpi)


def _draw_diagram(ax: "Axes", layout: Layout, maximal: list[bool], font_size: float) -> None:
    for line in layout.lines:
        ax.plot(line[:, 0], line[:, 1], color="0.55", linewidth=1.1, zorder=1)
    for label, (x, y), best in zip(layout.labels, layout.places, maximal, strict=True):
        shade = "#cfe3f5" if best else "white"
        box = {"boxstyle": "round,pad=0.3", "facecolor": shade, "edgecolor": "0.4"}
        text = ax.text(x, y, label, ha="center", va="center", fontsize=font_size, bbox=box)
        text.set_parse_math(False)


def lay_out(above: BoolArray, arms: tuple[str, ...]) -> Layout:
    """Place the arms of one order (k, k): connected parts side by side, free arms last."""
    direct = reduction(above)
    labels = [wrapped(name) for name in arms]
    widths = np.array([label_width(label) for label in labels])
    places = np.zeros((len(arms), 2))
    lines: list[FloatArray] = []
    free, *parts = _parts(direct)
    left = 0.0
    for part in parts:
        spots, part_lines = _place(direct[np.ix_(part, part)], widths[part].tolist())
        shift = np.array([left - (spots[:, 0] - widths[part] / 2).min(), 0.0])
        places[part] = spots + shift
        lines += [line + shift for line in part_lines]
        left = (places[part, 0] + widths[part] / 2).max() + GAP
    rows = max(places[:, 1].max() + 1, math.ceil(math.sqrt(len(free))))
    for i in range(0, len(free), int(rows)):
        column = free[i : i + int(rows)]
        places[column, 0] = left + widths[column].max() / 2
        places[column, 1] = np.arange(len(column))
        left += widths[column].max() + GAP
    tall = max(label.count("\n") + 1 for label in labels) * LINE
    slant = max((np.abs(np.diff(line[:, 0])).max() for line in lines), default=0.0)
    step = tall + LAYER_GAP + min(SLANT * slant, MOST_SLANT)
    height = places[:, 1].max() * step + tall
    places[:, 1] = places[:, 1] * step + tall / 2
    drawn = [_drawn(line, tall, step) for line in lines]
    return Layout(labels, places, drawn, left - GAP, height)


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
    """Return the free arms, then the arms of each connected part by its first arm."""
    near = closure(direct | direct.T | np.eye(len(direct), dtype=np.bool_))
    first = near.argmax(axis=1)
    groups = [np.flatnonzero(first == arm).tolist() for arm in np.unique(first)]
    free = [group[0] for group in groups if len(group) == 1]
    return [free, *(group for group in groups if len(group) > 1)]


def _place(direct: BoolArray, widths: list[float]) -> tuple[FloatArray, list[FloatArray]]:
    """Place one connected part: (x, layer) of each arm, and a line for each direct relation.

    A relation that passes layers gets a bend in each of them, which takes up room as an arm
    does: so no line runs through a label.
    """
    depth = np.zeros(len(direct), dtype=np.int64)  # the longest path down to each arm
    for _ in range(len(direct)):
        depth = (direct * (depth[:, None] + 1)).max(axis=0)
    layer_of: list[int] = depth.tolist()
    routes = []
    for a, b in np.argwhere(direct).tolist():
        bends = range(layer_of[a] + 1, layer_of[b])
        routes.append([a, *range(len(widths), len(widths) + len(bends)), b])
        layer_of += bends
        widths += [0.0] * len(bends)
    x = _sweep(layer_of, routes, widths)
    spots = np.column_stack([x, layer_of])
    return spots[: len(direct)], [spots[route] for route in routes]


def _sweep(layer_of: list[int], routes: list[list[int]], widths: list[float]) -> list[float]:
    """Return the x of arms and bends: each layer in turn moves towards its neighbours."""
    uppers: list[list[int]] = [[] for _ in widths]
    lowers: list[list[int]] = [[] for _ in widths]
    for route in routes:
        for upper, lower in pairwise(route):
            lowers[upper].append(lower)
            uppers[lower].append(upper)
    layers = [[v for v, depth in enumerate(layer_of) if depth == d] for d in sorted({*layer_of})]
    x = [float(v) for v in range(len(widths))]
    for sweep in range(SWEEPS):
        near = lowers if sweep % 2 else uppers
        for layer in layers[::-1] if sweep % 2 else layers:
            wanted = {
                v: sum(x[n] for n in near[v]) / len(near[v]) if near[v] else x[v] for v in layer
            }
            layer.sort(key=wanted.__getitem__)
            for v, place in zip(layer, _spread(layer, wanted, widths), strict=True):
                x[v] = place
    return x


def _spread(layer: list[int], wanted: dict[int, float], widths: list[float]) -> list[float]:
    """Return places near the wanted ones, far enough apart.

    Pushing to the right and pushing to the left both keep the distances; so does their mean.
    """
    steps = [(widths[v] + widths[w]) / 2 + GAP for v, w in pairwise(layer)]
    right = [wanted[v] for v in layer]
    left = list(right)
    for i, step in enumerate(steps):
        right[i + 1] = max(right[i + 1], right[i] + step)
    for i, step in reversed(list(enumerate(steps))):
        left[i] = min(left[i], left[i + 1] - step)
    return [(a + b) / 2 for a, b in zip(left, right, strict=True)]


def plot_ranks(
    orders: "LatentOrders", states: Sequence[int], ax: "Axes | None", beside: Sequence["Axes"] = ()
) -> "Figure":
    """Draw each arm's rank in each state: one plus the number of arms above it.

    Axes ``beside`` the heat-map stand between it and the scale of colours.
    """
    import matplotlib as mpl

    k = orders.n_arms
    ranks = 1 + orders.precedes[list(states)].sum(axis=1)
    numbered = (ax is None or len(beside) > 0) and max(ranks.shape) <= MOST_NUMBERED
    ax = _rank_axes(orders, len(states)) if ax is None else ax
    colours = mpl.colormaps["viridis_r"].resampled(max(k, 2))
    image = ax.imshow(ranks, cmap=colours, vmin=0.5, vmax=max(k, 2) + 0.5, aspect="auto")
    bar = _figure(ax).colorbar(image, ax=[ax, *beside], label="rank (1 is best)")
    bar.set_ticks([rank + 1 for rank in _spaced(k, most=10)])
    bar.ax.invert_yaxis()
    _label_axes(ax, orders.arms, states)
    for (s, a), rank in np.ndenumerate(ranks) if numbered else ():
        colour = "white" if rank > 0.45 * k else "black"
        ax.text(a, s, str(rank), ha="center", va="center", fontsize=FONT_SIZE - 2, color=colour)
    return _figure(ax)


def _rank_axes(orders: "LatentOrders", n_states: int) -> "Axes":
    from matplotlib.figure import Figure

    labels = min(max(len(name) for name in orders.arms), 30) * EM * 0.6
    width = min(max(0.34 * orders.n_arms, 3.0), PAGE_WIDTH) + 1.6
    height = min(max(0.26 * n_states, 1.6), 9.0) + labels + 0.6
    return Figure(figsize=(width, height), layout="constrained").subplots()


def _label_axes(ax: "Axes", arms: Sequence[str], states: Sequence[int]) -> None:
    columns, rows = _spaced(len(arms), most=60), _spaced(len(states), most=30)
    names = [arms[a] if len(arms[a]) <= 30 else arms[a][:29] + "…" for a in columns]
    upright = max(map(len, names)) <= 3
    ax.set_xticks(columns, names, rotation=0 if upright else 90, fontsize=FONT_SIZE)
    for label in ax.get_xticklabels():
        label.set_parse_math(False)
    ax.set_yticks(rows, [str(states[s]) for s in rows], fontsize=FONT_SIZE)
    ax.set_xlabel("arm")
    ax.set_ylabel("state")


def _spaced(count: int, most: int) -> range:
    """Return at most about ``most`` evenly spaced numbers from 0 to ``count - 1``."""
    steps = (step * 10**power for power in range(10) for step in (1, 2, 5))
    return range(0, count, next(step for step in steps if step * most >= count))


def _figure(ax: "Axes") -> "Figure":
    """Return the whole figure that the axes belong to."""
    figure = ax.figure.figure
    assert figure is not None
    return figure
