"""Lines with bands of one standard error: regret over rounds, and at the horizon over a sweep."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.drawing.canvas import Canvas
from lobandits.experiments.drawing.labels import label_lines
from lobandits.experiments.parts import Record
from lobandits.simulation.regret_plot import line_styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_regret(
    canvas: Canvas,
    panels: Mapping[str, Record],
    labels: Sequence[str],
    columns: int = 2,
    wide: float = 8.4,
    per_round: bool = False,
) -> None:
    """Draw regret against the round, cumulative or per round, one panel for each title."""
    axes = canvas.panels(len(panels), columns, wide / columns)
    for place, (title, record) in zip(axes, panels.items(), strict=True):
        for label, style in line_styles(labels).items():
            mean, error = record.slope(label) if per_round else record.curve(label)
            start = [] if per_round else [0.0]
            x, mean, error = (np.concatenate([start, y]) for y in (record.points, mean, error))
            draw_band(place, x, mean, error, {**style, "marker": ""})
        averaged = f"regret per round (mean of {int(record.points[0])})"
        place.set(xlim=(0, record.horizon), ylim=(0, None), title=title)
        place.set(xlabel="round $t$", ylabel=averaged if per_round else "cumulative regret")
        label_lines(place, labels)


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
