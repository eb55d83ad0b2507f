"""How each policy's curve looks: colour, line and marker.

Colours come from the palettes of Okabe and Ito and of Tol, which colour-blind readers can tell
apart; UCB-like policies are dashed.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import cycle
from typing import Any

Line = tuple[int, tuple[float, ...]]
SOLID: Line = (0, ())
DASHED: Line = (0, (5.0, 1.8))
VARIANTS: tuple[Line, ...] = (  # of a policy's second, third and fourth set of options
    (0, (1.2, 1.4)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
POLICY_STYLES: dict[str, tuple[str, Line, str]] = {  # colour, line and marker
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
OTHERS = ("#cc6677", "#44aa99", "#ddcc77", "#6699cc", "#997700")  # policies not of ours


def line_styles(labels: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return the colour, line and marker of each label: keywords of ``Axes.plot``.

    A policy with options, as in "lobts(project_every=10)", has its policy's colour; if the same
    policy comes again, with other options, its line is dotted.
    """
    styles: dict[str, dict[str, Any]] = {}
    others = cycle(OTHERS)
    seen: Counter[str] = Counter()
    for label in labels:
        name = label.partition("(")[0].strip()
        if name in POLICY_STYLES:
            color, line, marker = POLICY_STYLES[name]
        else:
            color, line, marker = next(others), SOLID, "."
            name = label
        if seen[name]:
            line = VARIANTS[(seen[name] - 1) % len(VARIANTS)]
        seen[name] += 1
        styles[label] = {"color": color, "linestyle": line, "marker": marker}
    return styles
