"""What all figures share: panels, lines with bands, labels that cover no data, SVG for a page."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.design import Experiment, Found, policy_title
from lobandits.experiments.record import Record
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


@dataclass
class Canvas:
    """A page: wide, or narrow like a phone, which has half as many panels in a row."""

    narrow: bool
    figure: "Figure" = field(init=False)

    def panels(
        self, n: int, columns: int = 2, wide: float = 4.3, high: float = 2.9
    ) -> "list[Axes]":
        """Begin the figure: ``n`` panels of that size in inches, filled row by row."""
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
        self.figure = figure
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
        place.set_xlim(0, record.horizon)
        place.set_ylim(bottom=0)
        place.set_xlabel("round $t$")
        label_lines(place, labels)
        window = int(record.points[0])
        place.set_ylabel(f"regret per round (mean of {window})" if slope else "cumulative regret")
        place.set_title(title)


def draw_ends(
    axes: "Axes", records: Mapping[float, Record], labels: Sequence[str], name: str
) -> None:
    """Draw the regret at the horizon against the values of a sweep, which is called ``name``."""
    x = np.array(list(records), dtype=float)
    for label, style in line_styles(labels).items():
        ends = [record.curve(label) for record in records.values()]
        mean, error = np.transpose([(mean[-1], error[-1]) for mean, error in ends])
        draw_band(axes, x, mean, error, style)
    axes.set_ylim(bottom=0)
    label_lines(axes, labels)
    axes.set_xlabel(name)
    axes.set_ylabel(f"cumulative regret at $T={next(iter(records.values())).horizon}$")


def draw_band(
    axes: "Axes", x: FloatArray, mean: FloatArray, error: FloatArray, style: Mapping[str, Any]
) -> None:
    """Draw a line with a band of one standard error, as in the paper."""
    axes.plot(x, mean, **style)
    axes.fill_between(x, mean - error, mean + error, color=style["color"], alpha=0.22, linewidth=0)


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
            textcoords="axes fraction",
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

    pictures = {}
    for width in ("wide", "narrow"):
        canvas = Canvas(narrow=width == "narrow")
        with style.context(["default", RC]):
            experiment.draw(found, canvas)
            if found.title:
                canvas.figure.suptitle(f"MovieLens, {found.title}", x=0.01, ha="left", fontsize=8)
            text = StringIO()
            canvas.figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        pictures[width] = _inline(text.getvalue(), f"{experiment.name}-{width}")
    return pictures


def _inline(svg: str, prefix: str) -> str:
    """Return the ``<svg>`` element alone, in the colours of the page, with unique ids."""
    svg = svg[svg.index("<svg") :]
    for pattern, instead in (
        (r"(?s)<metadata>.*?</metadata>", ""),
        (r'(<svg\b[^>]*?) width="[^"]*"', r"\1"),
        (r'(<svg\b[^>]*?) height="[^"]*"', r"\1"),
        (r"(\d+\.\d\d)\d+", r"\1"),
        (r'\bid="([^"]+)"', rf'id="{prefix}-\1"'),
        (r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)"),
        (r'href="#([^"]+)"', rf'href="#{prefix}-\1"'),
    ):
        svg = re.sub(pattern, instead, svg)
    return svg.replace(INK, "currentColor").replace(FAINT, "var(--faint)").strip()


def standalone(svg: str) -> str:
    """Return an inline figure as a file of its own: black on nothing."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace(
        "<svg ", '<svg style="color: #1b1f24; --faint: #dfe2e6" ', 1
    )
