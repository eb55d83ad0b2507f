"""Hasse diagrams: a line leads from each arm down to those directly below it."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lobandits._plots import EM, FONT_SIZE, PAGE_WIDTH, figure_of
from lobandits.orders.hasse_layout import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.orders.partial import PartialOrder

MARGIN = 1.0  # around a diagram, in ems


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
