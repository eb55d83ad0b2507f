"""Pictures of orders: Hasse diagrams and rank heat-maps."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import IntArray, one_of
from lobandits.errors import LobInputError
from lobandits.orders.layout import Layout, lay_out

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
MARGIN = 1.0  # around a diagram, in ems
PAGE_WIDTH = 14.0  # in inches


def plot_orders(
    orders: "LatentOrders", states: Sequence[int] | None, kind: str, ax: "Axes | None"
) -> "Figure":
    """Draw some states in the way that fits their number, or the way asked for."""
    rows = _check_states(states, orders.n_states)
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
    grid = figure.subplots(rows, columns, squeeze=False)
    axes: list[Axes] = list(grid.flat)
    for unused in axes[len(layouts) :]:
        unused.remove()
    return axes[: len(layouts)]


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


def plot_ranks(
    orders: "LatentOrders",
    states: Sequence[int],
    ax: "Axes | None",
    beside: Sequence["Axes"] = (),
) -> "Figure":
    """Draw each arm's rank in each state: one plus the number of arms above it.

    Axes ``beside`` the heat-map stand between it and the scale of colours.
    """
    import matplotlib as mpl

    ranks = 1 + orders.precedes[list(states)].sum(axis=1)
    numbered = (ax is None or len(beside) > 0) and max(ranks.shape) <= MOST_NUMBERED
    ax = _rank_axes(orders, len(states)) if ax is None else ax
    colours = mpl.colormaps["viridis_r"].resampled(max(orders.n_arms, 2))
    image = ax.imshow(
        ranks, cmap=colours, vmin=0.5, vmax=max(orders.n_arms, 2) + 0.5, aspect="auto"
    )
    bar = _figure(ax).colorbar(image, ax=[ax, *beside], label="rank (1 is best)")
    bar.set_ticks([rank + 1 for rank in _spaced(orders.n_arms, most=10)])
    bar.ax.invert_yaxis()
    _label_axes(ax, orders.arms, states)
    if numbered:
        _write_ranks(ax, ranks)
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


def _write_ranks(ax: "Axes", ranks: IntArray) -> None:
    for (s, a), rank in np.ndenumerate(ranks):
        colour = "white" if rank > 0.45 * ranks.shape[1] else "black"
        ax.text(a, s, str(rank), ha="center", va="center", fontsize=FONT_SIZE - 2, color=colour)


def _spaced(count: int, most: int) -> range:
    """Return at most about ``most`` evenly spaced numbers from 0 to ``count - 1``."""
    steps = (step * 10**power for power in range(10) for step in (1, 2, 5))
    return range(0, count, next(step for step in steps if step * most >= count))


def _figure(ax: "Axes") -> "Figure":
    """Return the whole figure that the axes belong to."""
    figure = ax.figure.figure
    assert figure is not None
    return figure


def _check_states(states: Sequence[int] | None, n_states: int) -> list[int]:
    if states is None:
        return list(range(n_states))
    array = np.asarray(states)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
        raise LobInputError(f"states must be a list of states' numbers, got {states!r}")
    for s in array.tolist():
        if not 0 <= s < n_states:
            raise LobInputError(f"state {s} is out of range; the states are 0 to {n_states - 1}")
    return [int(s) for s in array]
