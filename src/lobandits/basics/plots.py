"""What all pictures share: the size of letters and pages, and names as they are."""

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FONT_SIZE = 9.0
EM = FONT_SIZE / 72  # in inches
PAGE_WIDTH = 14.0  # in inches


def figure_of(ax: "Axes") -> "Figure":
    """Return the whole figure that the axes belong to."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def plain(name: str) -> str:
    """Return a name that matplotlib does not read as a formula."""
    return name.replace("$", r"\$")


def spaced(count: int, most: int) -> range:
    """Return at most ``most`` evenly spaced numbers from 0 on, below ``count``."""
    return range(0, count, math.ceil(count / most))
