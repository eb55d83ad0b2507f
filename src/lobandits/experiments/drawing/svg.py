"""Figures as SVG: within a page, in its colours, and as a file of its own."""

import re
from collections.abc import Callable
from io import StringIO

from lobandits.experiments.drawing.canvas import FAINT, INK, STYLE, Canvas
from lobandits.experiments.records import Records


def render(name: str, draw: Callable[[Records, Canvas], None], records: Records) -> dict[str, str]:
    """Return the figure of that name for a screen and for a phone, as elements of a page."""
    from matplotlib import style
    from matplotlib.figure import Figure

    pictures = {}
    for width in ("wide", "narrow"):
        with style.context(["default", STYLE]):
            figure = Figure(layout="constrained")
            figure.patch.set_alpha(0)
            draw(records, Canvas(figure, width == "narrow"))
            if records.title:
                figure.suptitle(f"MovieLens, {records.title}", x=0.01, ha="left", fontsize=8)
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
