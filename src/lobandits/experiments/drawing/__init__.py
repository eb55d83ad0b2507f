"""What all figures share: panels, lines with bands, labels that cover no data, SVG for a page."""

from lobandits.experiments.drawing.canvas import INK, Canvas
from lobandits.experiments.drawing.labels import remark
from lobandits.experiments.drawing.lines import draw_band, draw_final_regret, draw_regret
from lobandits.experiments.drawing.svg import render, standalone

__all__ = [
    "INK",
    "Canvas",
    "draw_band",
    "draw_final_regret",
    "draw_regret",
    "remark",
    "render",
    "standalone",
]
