"""A picture of regret over rounds, and how each policy's curve looks in all pictures.

A policy's class says its colour, line and marker. Others take a colour by their name, from a
palette of Tol's that colour-blind readers can tell apart.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from lobandits.basics.plots import figure_of, plain
from lobandits.errors import LobInputError
from lobandits.policies import POLICIES
from lobandits.simulation.moments import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lobandits.simulation.result import Result


BAND = 2.0  # half the height of a band, in standard errors
Line = tuple[int, tuple[float, ...]]
LINES: dict[str, Line] = {"solid": (0, ()), "dashed": (0, (5.0, 1.8))}
VARIANTS: tuple[Line, ...] = (  # of a policy's second, third and fourth set of options
    (0, (1.2, 1.4)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (6.0, 1.5, 1.2, 1.5, 1.2, 1.5)),
)
OTHERS = ("#cc6677", "#44aa99", "#ddcc77", "#6699cc", "#997700")  # policies without a style


def plot_regret(
    result: "Result", ax: "Axes | None", bound: bool, cumulative: bool, window: int
) -> "Figure":
    """Draw mean regret over rounds."""
    from matplotlib.figure import Figure

    if bound and not cumulative:
        raise LobInputError("the lower bound is on cumulative regret; plot that, or bound=False")
    axes = ax or Figure(figsize=(7.6, 4.2), layout="constrained").add_subplot()
    for policy, style in line_styles(result.policies).items():
        curve = result.cumulative(policy) if cumulative else result.instantaneous(policy, window)
        _draw_curve(axes, curve, style | {"marker": "", "label": plain(policy)})
    if bound:
        rounds = np.arange(1, result.horizon + 1)
        floor = result.lower_bound() * np.log(rounds)
        axes.plot(rounds, floor, "k--", linewidth=1.2, label="lower bound $c$ log $t$")
    over = f", mean of the last {window} rounds" if window > 1 and not cumulative else ""
    axes.set(xlabel="round", ylabel=f"{'cumulative ' * cumulative}regret{over}")
    axes.set_title(f"Mean of {result.n_users:,} users, ± {BAND:g} standard errors", fontsize=10)
    axes.set(xlim=(1, max(result.horizon, 2)))
    axes.set_ylim(bottom=0)
    axes.spines[["top", "right"]].set_visible(False)
    # a figure of our own has room to the right of the curves
    outside: dict[str, Any]
    outside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if ax is None else {}
    axes.legend(frameon=False, **outside)
    return figure_of(axes)


def _draw_curve(axes: "Axes", curve: Curve, style: dict[str, Any]) -> None:
    """Draw a line with a band of `BAND` standard errors; a single user has none."""
    mean, error = curve
    rounds = np.arange(1, len(mean) + 1)
    (line,) = axes.plot(rounds, mean, linewidth=1.6, **style)
    if not np.isnan(error).all():
        low, high = mean - BAND * error, mean + BAND * error
        axes.fill_between(rounds, low, high, color=line.get_color(), alpha=0.2, linewidth=0)


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
