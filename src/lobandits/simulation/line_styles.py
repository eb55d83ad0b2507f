"""How each policy's curve looks: colour, line and marker.

A policy's class says its style. Others take a colour by their name, from a palette of Tol's that
colour-blind readers can tell apart.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from lobandits.policies import POLICIES

Line = tuple[int, tuple[float, ...]]
LINES: dict[str, Line] = {"solid": (0, ()), "dashed": (0, (5.0, 1.8))}
VARIANTS: tuple[Line, ...] = (  # of a policy's second, third and fourth set of options
    (0, (1.2, 1.4)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
OTHERS = ("#cc6677", "#44aa99", "#ddcc77", "#6699cc", "#997700")  # policies without a style


def line_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, line and marker of each label: keywords of ``Axes.plot``.

    A policy with options, as in "lobts(project_every=10)", has its policy's colour; if the same
    policy comes again, with other options, its line is dotted.
    """
    styles: dict[str, dict[str, Any]] = {}
    colors: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for label in labels:
        name = label.partition("(")[0].strip()
        if name not in POLICIES:
            name = label
        own = POLICIES[name].style if name in POLICIES else None
        color, line, marker = own or (_color(name, colors), "solid", ".")
        dashes = VARIANTS[(seen[name] - 1) % len(VARIANTS)] if seen[name] else LINES.get(line, line)
        seen[name] += 1
        styles[label] = {"color": color, "linestyle": dashes, "marker": marker}
    return styles


def _color(name: str, taken: dict[str, str]) -> str:
    """Return the colour of a name: always the same, unless another name here took it before."""
    if name not in taken:
        first = crc32(name.encode()) % len(OTHERS)
        wheel = OTHERS[first:] + OTHERS[:first]
        taken[name] = next((color for color in wheel if color not in taken.values()), wheel[0])
    return taken[name]
