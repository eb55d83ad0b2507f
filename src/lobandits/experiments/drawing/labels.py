"""Words in a figure: remarks beside data, and names at the ends of lines, apart from each other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.policy_names import policy_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
