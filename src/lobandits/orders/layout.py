"""Where the arms of a Hasse diagram stand: layer by layer, so that no two labels overlap.

Lengths are in ems (one em is the size of the labels' font); x grows to the right, y down.
"""

import math
import textwrap
import unicodedata
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray
from lobandits.orders.graph import reduction

SWEEPS = 8
GAP = 1.6
LINE = 1.25
LAYER_GAP = 2.0
SLANT = 0.1  # more gap between layers, the more their lines slant
MOST_SLANT = 4.0
WRAP = 18


class Layout(NamedTuple):
    """One diagram: the label and place of each arm, and the lines between them."""

    labels: list[str]
    places: FloatArray
    lines: list[FloatArray]
    width: float
    height: float


def lay_out(above: BoolArray, arms: tuple[str, ...]) -> Layout:
    """Place the arms of one order (k, k): connected parts side by side, free arms last."""
    direct = reduction(above)
    labels = [wrapped(name) for name in arms]
    widths = np.array([label_width(label) for label in labels])
    places = np.zeros((len(arms), 2))
    lines: list[FloatArray] = []
    free, *parts = _parts(direct)
    left = 0.0
    for part in parts:
        spots, part_lines = _place(direct[np.ix_(part, part)], widths[part].tolist())
        start = left - (spots[:, 0] - widths[part] / 2).min()
        shift = np.array([start, 0.0])
        places[part] = spots + shift
        lines += [line + shift for line in part_lines]
        left = (places[part, 0] + widths[part] / 2).max() + GAP
    rows = max(places[:, 1].max() + 1, math.ceil(math.sqrt(len(free))))
    for i in range(0, len(free), int(rows)):
        column = free[i : i + int(rows)]
        places[column, 0] = left + widths[column].max() / 2
        places[column, 1] = np.arange(len(column))
        left += widths[column].max() + GAP
    tall = max(label.count("\n") + 1 for label in labels) * LINE
    slant = max((np.abs(np.diff(line[:, 0])).max() for line in lines), default=0.0)
    step = tall + LAYER_GAP + min(SLANT * slant, MOST_SLANT)
    height = places[:, 1].max() * step + tall
    places[:, 1] = places[:, 1] * step + tall / 2
    drawn = [_drawn(line, tall, step) for line in lines]
    return Layout(labels, places, drawn, left - GAP, height)


def _drawn(route: FloatArray, tall: float, step: float) -> FloatArray:
    """Return a line that is upright within layers and slants only between them."""
    x, middle = route[:, 0], route[:, 1] * step + tall / 2
    ends = np.column_stack([middle - tall / 2, middle + tall / 2])
    ends[0, 0], ends[-1, 1] = middle[0], middle[-1]
    return np.column_stack([x.repeat(2), ends.ravel()])


def wrapped(name: str) -> str:
    """Return ``name`` on lines of at most `WRAP` characters, at most three of them."""
    return "\n".join(textwrap.wrap(name, WRAP, max_lines=3, placeholder="…"))


def label_width(label: str) -> float:
    """Return a generous estimate of a label's width in ems."""
    return max(sum(map(_letter_width, line)) for line in label.split("\n"))


def _letter_width(letter: str) -> float:
    if letter in "mwMW@%" or unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.75 if letter.isupper() else 0.62


def _parts(direct: BoolArray) -> list[list[int]]:
    """Return the free arms, then the arms of each connected part by its first arm."""
    free: list[int] = []
    parts: list[list[int]] = []
    near = direct | direct.T
    seen: set[int] = set()
    for start in range(len(direct)):
        if start in seen:
            continue
        part = [start]
        for arm in part:
            part += [b for b in np.flatnonzero(near[arm]).tolist() if b not in part]
        seen.update(part)
        if len(part) == 1:
            free += part
        else:
            parts.append(sorted(part))
    return [free, *parts]


def _place(direct: BoolArray, widths: list[float]) -> tuple[FloatArray, list[FloatArray]]:
    """Place one connected part: (x, layer) of each arm, and a line for each direct relation.

    A relation that passes layers gets a bend in each of them, which takes up room as an arm
    does: so no line runs through a label.
    """
    layer_of = _layers(direct)
    widths = list(widths)
    routes = []
    for a, b in np.argwhere(direct).tolist():
        bends = range(layer_of[a] + 1, layer_of[b])
        routes.append([a, *range(len(widths), len(widths) + len(bends)), b])
        layer_of += bends
        widths += [0.0] * len(bends)
    x = _sweep(layer_of, routes, widths)
    spots = np.column_stack([x, layer_of])
    return spots[: len(direct)], [spots[route] for route in routes]


def _layers(direct: BoolArray) -> list[int]:
    """Return the length of the longest path down to each arm."""
    layer = np.zeros(len(direct), dtype=np.int64)
    for _ in range(len(direct)):
        layer = (direct * (layer[:, None] + 1)).max(axis=0)
    return [int(depth) for depth in layer]


def _sweep(layer_of: list[int], routes: list[list[int]], widths: list[float]) -> list[float]:
    """Return the x of arms and bends: each layer in turn moves towards its neighbours."""
    uppers: list[list[int]] = [[] for _ in widths]
    lowers: list[list[int]] = [[] for _ in widths]
    for route in routes:
        for upper, lower in pairwise(route):
            lowers[upper].append(lower)
            uppers[lower].append(upper)
    layers = [[v for v, depth in enumerate(layer_of) if depth == d] for d in sorted({*layer_of})]
    x = [float(v) for v in range(len(widths))]
    for sweep in range(SWEEPS):
        near = lowers if sweep % 2 else uppers
        for layer in layers[::-1] if sweep % 2 else layers:
            wanted = {v: _mean([x[n] for n in near[v]], x[v]) for v in layer}
            layer.sort(key=wanted.__getitem__)
            for v, place in zip(layer, _spread(layer, wanted, widths), strict=True):
                x[v] = place
    return x


def _spread(layer: list[int], wanted: dict[int, float], widths: list[float]) -> list[float]:
    """Return places near the wanted ones, far enough apart.

    Pushing to the right and pushing to the left both keep the distances; so does their mean.
    """
    steps = [(widths[v] + widths[w]) / 2 + GAP for v, w in pairwise(layer)]
    right = [wanted[v] for v in layer]
    left = list(right)
    for i, step in enumerate(steps):
        right[i + 1] = max(right[i + 1], right[i] + step)
    for i, step in reversed(list(enumerate(steps))):
        left[i] = min(left[i], left[i + 1] - step)
    return [(a + b) / 2 for a, b in zip(left, right, strict=True)]


def _mean(values: list[float], default: float) -> float:
    return sum(values) / len(values) if values else default
