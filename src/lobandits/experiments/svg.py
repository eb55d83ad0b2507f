"""Figures as SVG that a page can hold inline: its colours, its fonts, ids of its own."""

import re
from io import StringIO
from typing import TYPE_CHECKING, Any

from lobandits.experiments.draw import FAINT, INK, RC, Canvas

if TYPE_CHECKING:
    from lobandits.experiments.design import Experiment, Found

CANVASES = {"wide": Canvas(), "narrow": Canvas(narrow=True)}
"""A page for a screen, and one for a phone."""


def render(experiment: "Experiment", found: "Found") -> dict[str, str]:
    """Return the experiment's figure for each canvas; nothing if it has none."""
    if experiment.draw is None:
        return {}
    import matplotlib as mpl

    pictures = {}
    for width, canvas in CANVASES.items():
        with mpl.rc_context():
            mpl.rcdefaults()
            parameters: Any = mpl.rcParams
            parameters.update(RC)
            figure = experiment.draw(found, canvas)
            if found.title:
                figure.suptitle(f"MovieLens, {found.title}", x=0.01, ha="left", fontsize=8)
            text = StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None}, transparent=True)
        pictures[width] = inline(text.getvalue(), f"{experiment.name}-{width}")
    return pictures


def inline(svg: str, prefix: str) -> str:
    """Return the ``<svg>`` element alone, in the colours of the page, with unique ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r"(\d+\.\d\d)\d+", r"\1", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    return svg.replace(INK, "currentColor").replace(FAINT, "var(--faint)").strip()


def standalone(svg: str) -> str:
    """Return an inline figure as a file of its own: black on nothing."""
    return '<?xml version="1.0" encoding="utf-8"?>\n' + svg.replace(
        "<svg ", '<svg style="color: #1b1f24; --faint: #dfe2e6" ', 1
    )
