"""What all figures share: panels, lines with bands, labels that cover no data, SVG for a page."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.paper.parts import Record, Records
from lobandits.paper.parts.policies import policy_title
from lobandits.simulation.regret_plot import line_styles

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


PAGE = 8.6
"""Width of a figure in inches; a phone's is half of it."""


@dataclass
class Canvas:
    """A page: wide, or narrow like a phone, which has half as many panels in a row."""

    figure: "Figure"
    narrow: bool

    def panels(self, n: int, columns: int = 2, high: float = 2.9) -> "list[Axes]":
        """Return ``n`` panels as high as that in inches, row by row over the width of the page."""
        columns = min(max(columns // 2, 1) if self.narrow else columns, n)
        rows = -(-n // columns)
        self.figure.set_size_inches(PAGE / 2 if self.narrow else PAGE, high * rows)
        axes = list(self.figure.subplots(rows, columns, squeeze=False).flat)
        for unused in axes[n:]:
            unused.remove()
        for place in axes:
            place.patch.set_alpha(0)
        return axes[:n]


def remark(
    axes: "Axes", text: str, at: tuple[Any, Any], by: tuple[float, float], **style: Any
) -> None:
    """Write beside a place in the data, so many points to the right and up."""
    axes.annotate(text, at, by, textcoords="offset points", **style)


def label_lines(axes: "Axes", labels: Sequence[str]) -> None:
    """Write each line's name at its right end, apart from each other, in its colour."""
    lines = axes.get_lines()[-len(labels) :]
    low, high = axes.get_ylim()
    scale = np.log if axes.get_yscale() == "log" else np.asarray
    ends = scale([float(np.asarray(line.get_ydata())[-1]) for line in lines])
    bottom, top = scale([low, high])
    ends = np.clip((ends - bottom) / (top - bottom), 0.0, 1.0)
    gap = min(0.074, 0.98 / len(labels))
    for line, end, place, label in zip(lines, ends, spread(ends, gap), labels, strict=True):
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
                "relpos": (0.0, 0.5),
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


def draw_regret(
    canvas: Canvas,
    panels: Mapping[str, Record],
    labels: Sequence[str],
    columns: int = 2,
    per_round: bool = False,
) -> None:
    """Draw regret against the round, cumulative or per round, one panel for each title.

    Lines have their names at their ends, or, where these are too close, below the panels.
    """
    axes = canvas.panels(len(panels), columns, high=3.5 if per_round else 2.9)
    for place, (title, record) in zip(axes, panels.items(), strict=True):
        for label, style in line_styles(labels).items():
            mean, error = record.slope(label) if per_round else record.curve(label)
            start = [] if per_round else [0.0]
            x, mean, error = (np.concatenate([start, y]) for y in (record.points, mean, error))
            draw_band(place, x, mean, error, {**style, "marker": ""})
        averaged = f"regret per round (mean of {int(record.points[0])})"
        place.set(xlim=(0, record.horizon), ylim=(0, None), title=title)
        place.set(xlabel="round $t$", ylabel=averaged if per_round else "cumulative regret")
        if not (per_round or columns > 2):
            label_lines(place, labels)
    if per_round or columns > 2:
        label_below(canvas, axes[0], labels)


def label_below(canvas: Canvas, axes: "Axes", labels: Sequence[str]) -> None:
    """Write the names of all lines below the panels."""
    lines = axes.get_lines()[-len(labels) :]
    for line in lines:
        line.set_linewidth(1.6)
    names = [policy_title(label) for label in labels]
    each = 2 if canvas.narrow else 5
    canvas.figure.legend(
        lines, names, loc="outside lower center", ncols=each, frameon=False, fontsize=8
    )


def draw_final_regret(
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


def caption(records: Records, unit: str, timed: bool = False) -> str:
    """Return what stands above a figure: whose ratings, how many users and seeds, what bands are.

    Examples
    --------
    >>> caption(Records({(): Record({"seed": 7}, np.ones(1), {"ucb": np.ones((3, 1))})}), "users")
    '3 users, seed 7. Bands and bars: +- 1 standard error over users.'
    """
    if not records:
        return ""
    simulated = [r for r in records.values() if "environment" in r.settings]
    some = simulated or [next(iter(records.values()))]
    drawn = " or ".join(dict.fromkeys(r.drawn.replace("users", unit) for r in some))
    over = f"{unit} and seeds" if "seeds" in drawn else unit
    whose = f"MovieLens, {records.title}. In play: " if records.title else ""
    bands = "" if timed else f" Bands and bars: +- 1 standard error over {over}."
    return f"{whose}{drawn}.{bands}"


def render(
    name: str, draw: Callable[[Records, Canvas], None], records: Records, words: str
) -> dict[str, str]:
    """Return the figure for a screen and for a phone, as elements of a page, with words above."""
    from matplotlib import style
    from matplotlib.figure import Figure

    pictures = {}
    for width in ("wide", "narrow"):
        with style.context(["default", STYLE]):
            figure = Figure(layout="constrained")
            figure.patch.set_alpha(0)
            draw(records, Canvas(figure, width == "narrow"))
            if words:
                above = fill(words, 150 if width == "wide" else 72)
                figure.suptitle(above, x=0.01, ha="left", fontsize=8)
            text = StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        pictures[width] = _inline(text.getvalue(), f"{name}-{width}")
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
