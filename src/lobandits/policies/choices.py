"""Choices from one uniform number: among equals, or by weight; and the odds of each."""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import kernel, lean

CUT = 1e-12  # lighter weights, relative to the heaviest, become 0


@lean
def pick(values: FloatArray | BoolArray, wanted: float, uniform: float) -> tuple[int, float]:
    """Return one position where ``values == wanted``, each equally likely, and a new uniform.

    Of n such positions, at least one, the floor(n u)-th is taken; n u - floor(n u) is uniform again
    and independent of the choice. Cost O(k).
    """
    ties = 0
    for i in range(len(values)):
        ties += values[i] == wanted
    share = uniform * ties
    skip = min(int(share), ties - 1)
    left = skip
    for i in range(len(values)):
        if values[i] == wanted:
            if left == 0:
                return i, share - skip
            left -= 1
    return -1, uniform


@lean
def spread(values: FloatArray | BoolArray, wanted: float, mass: float, out: FloatArray) -> None:
    """Add ``mass`` to ``out``, in equal parts, where ``values == wanted``: `pick`'s odds."""
    ties = 0
    for i in range(len(values)):
        ties += values[i] == wanted
    for i in range(len(values)):
        if values[i] == wanted:
            out[i] += mass / ties


@lean
def exponentiate(logs: FloatArray, cut: float) -> float:
    """Replace ``logs`` by exp(log - max log), 0 if below ``cut``; return their sum."""
    best = -np.inf
    for s in range(len(logs)):
        best = max(best, logs[s])
    least = np.log(cut)
    total = 0.0
    for s in range(len(logs)):
        gap = logs[s] - best
        logs[s] = np.exp(gap) if gap >= least else 0.0
        total += logs[s]
    return total


@lean
def draw_weighted(weights: FloatArray, total: float, uniform: float) -> tuple[int, float]:
    """Return a position drawn by its weight (inverse distribution function) and a new uniform.

    Invariant: ``target`` is what is left of u * total after the weights passed so far; within
    the chosen weight it is uniform again. Rounding at the end falls to the last weight.
    """
    target = uniform * total
    last, inside = -1, 0.0
    for s in range(len(weights)):
        if weights[s] > 0.0:
            if target < weights[s]:
                return s, target / weights[s]
            target -= weights[s]
            last, inside = s, 0.5
    return last, inside


def draw_arms(odds: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its odds."""
    chosen = np.empty(len(odds), np.int64)
    write_draws(odds, noise, chosen)
    return chosen


@kernel
def write_draws(odds: FloatArray, noise: FloatArray, chosen: IntArray) -> None:
    """Write an arm for each user, drawn by its odds. Cost O(n k).

    Handing an array in takes half a microsecond less than getting one back.
    """
    for u in range(len(odds)):
        chosen[u], _ = draw_weighted(odds[u], odds[u].sum(), noise[u])
