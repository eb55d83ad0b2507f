"""One colour and one kind of line for each policy, in every picture.

Colours come from the palettes of Okabe and Ito and of Tol, which colour-blind readers can tell
apart, and read well on white and on black. Lines help too: UCB-like policies are dashed.
"""

from collections.abc import Iterable
from typing import Any

SOLID: tuple[int, tuple[float, ...]] = (0, ())
DASHED: tuple[int, tuple[float, ...]] = (0, (5.0, 1.8))
VARIANTS: tuple[tuple[int, tuple[float, ...]], ...] = (
    (0, (1.2, 1.4)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
"""Lines of a policy's second, third and fourth set of options."""
POLICY_STYLES: dict[str, tuple[str, tuple[int, tuple[float, ...]], str]] = {
    "ucb": ("#8c8c8c", DASHED, "s"),
    "ts": ("#009e73", SOLID, "o"),
    "mucb": ("#56b4e9", DASHED, "v"),
    "mts": ("#0072b2", SOLID, "^"),
    "lobucb": ("#e69f00", DASHED, "D"),
    "lobts": ("#d55e00", SOLID, "o"),
    "toparms": ("#cc79a7", DASHED, "P"),
    "lobimed": ("#999933", DASHED, "X"),
    "lobids": ("#aa4499", SOLID, "p"),
}
"""Colour, line and marker of each policy."""
OTHERS = ("#cc6677", "#44aa99", "#ddcc77", "#6699cc", "#997700")
"""Colours of policies that have no name of ours."""


def line_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, line and marker of each label: keywords of ``Axes.plot``.

    A policy with options, as in "lobts(project_every=10)", has its policy's colour; if the same
    policy comes again, with other options, its line is dotted.

    Examples
    --------
    >>> styles = line_styles(["lobts", "lobts(project_every=10)", "mine"])
    >>> [style["color"] for style in styles.values()]
    ['#d55e00', '#d55e00', '#cc6677']
    """
    styles: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    for label in labels:
        name = label.partition("(")[0].strip()
        if name not in POLICY_STYLES:
            known = sum(key not in POLICY_STYLES for key in seen)
            color, line, marker = OTHERS[known % len(OTHERS)], SOLID, "."
            name = label
        else:
            color, line, marker = POLICY_STYLES[name]
        before = seen.get(name, 0)
        seen[name] = before + 1
        if before:
            line = VARIANTS[(before - 1) % len(VARIANTS)]
        styles[label] = {"color": color, "linestyle": line, "marker": marker}
    return styles
