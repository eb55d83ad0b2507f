"""The canvas of a figure: its panels, and the style of all."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#010203", "#d0d1d2"
"""Colours of text and of grids, which a page exchanges for its own."""
STYLE: dict[str, Any] = {
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
