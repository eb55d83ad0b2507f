"""What all figures share: panels, lines with bands, and labels that cover no data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.design import FIRST, NARROW, NARROW_TENTH, TENTH
from lobandits.experiments.record import Record
from lobandits.simulation.report import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, FAINT = "#010203", "#d0d1d2"
"""Colours of text and of grids, which a page may exchange for its own."""
RC: dict[str, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
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
TITLES = {
    "ucb": "UCB",
    "ts": "TS",
    "mucb": "mUCB",
    "mts": "mTS",
    "lobucb": "lobUCB",
    "lobts": "lobTS",
    "toparms": "top-arms UCB",
    TENTH[0]: "lobUCB",
    TENTH[1]: "lobTS",
    FIRST: "mTS, best first",
    NARROW: "lobUCB, narrow",
    NARROW_TENTH: "lobUCB, narrow",
}
"""How policies are called in figures; on MovieLens all project every tenth round."""
BAND = 1.0
"""Half the height of a band, in standard errors, as in the paper."""


def policy_title(label: str) -> str:
    """Return how a policy is called in figures and tables."""
    return TITLES.get(label, label)


@dataclass(frozen=True)
class Canvas:
    """A page: wide, or narrow like a phone, which has half as many panels in a row."""

    narrow: bool = False

    def panels(
        self, n: int, columns: int = 2, wide: float = 4.3, high: float = 2.9
    ) -> "tuple[Figure, list[Axes]]":
        """Return a figure with ``n`` panels of that size in inches, filled row by row."""
        from matplotlib.figure import Figure

        columns = min(max(columns // 2, 1) if self.narrow else columns, n)
        rows = -(-n // columns)
        figure = Figure(figsize=(wide * columns, high * rows), layout="constrained")
        figure.patch.set_alpha(0)
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
        for unused in axes[n:]:
            unused.remove()
        for place in axes:
            place.patch.set_alpha(0)
        return figure, axes[:n]


def draw_curves(axes: "Axes", record: Record, labels: Sequence[str], slope: bool = False) -> None:
    """Draw regret against the round: cumulative, or per round (the moving average)."""
    for label, style in line_styles(labels).items():
        mean, error = record.slope(label) if slope else record.curve(label)
        start = [] if slope else [0.0]
        x = np.concatenate([start, record.points])
        draw_band(axes, x, np.concatenate([start, mean]), np.concatenate([start, error]), style)
    axes.set_xlim(0, record.horizon)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("round $t$")
    label_lines(axes, labels)


def draw_ends(axes: "Axes", records: Mapping[float, Record], labels: Sequence[str]) -> None:
    """Draw the regret at the horizon against the values of a sweep."""
    x = np.array(list(records), dtype=float)
    for label, style in line_styles(labels).items():
        ends = [record.curve(label) for record in records.values()]
        mean = np.array([mean[-1] for mean, _ in ends])
        error = np.array([error[-1] for _, error in ends])
        draw_band(axes, x, mean, error, style, marks=True)
    axes.set_ylim(bottom=0)
    label_lines(axes, labels)


def draw_band(
    axes: "Axes",
    x: FloatArray,
    mean: FloatArray,
    error: FloatArray,
    style: Mapping[str, Any],
    marks: bool = False,
) -> None:
    """Draw a line with its band of one standard error."""
    drawn = dict(style) if marks else {**style, "marker": ""}
    (line,) = axes.plot(x, mean, **drawn)
    low, high = mean - BAND * error, mean + BAND * error
    axes.fill_between(x, low, high, color=line.get_color(), alpha=0.22, linewidth=0)


def label_lines(axes: "Axes", labels: Sequence[str]) -> None:
    """Write each line's name at its right end, apart from each other, in its colour."""
    lines = axes.get_lines()[-len(labels) :]
    low, high = axes.get_ylim()
    ends = np.array([float(np.asarray(line.get_ydata())[-1]) for line in lines])
    places = spread((ends - low) / (high - low), 0.074)
    for line, end, place, label in zip(lines, ends, places, labels, strict=True):
        axes.annotate(
            policy_title(label),
            xy=(1.0, (end - low) / (high - low)),
            xytext=(1.045, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=line.get_color(),
            arrowprops={
                "arrowstyle": "-",
                "color": line.get_color(),
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
    >>> spread(np.array([0.5, 0.5, 0.0]), 0.1).round(2).tolist()
    [0.45, 0.55, 0.0]
    >>> spread(np.array([0.0, 0.0]), 0.1).round(2).tolist()
    [0.0, 0.1]
    """
    from scipy.optimize import isotonic_regression

    order = places.argsort(kind="stable")
    steps = gap * np.arange(len(places))
    moved = np.clip(isotonic_regression(places[order] - steps).x, 0.0, 1.0 - steps[-1]) + steps
    apart = np.empty_like(places)
    apart[order] = moved
    return apart
