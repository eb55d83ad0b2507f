"""Choices: which arms may be played now, and one of them from one uniform number.

The rewards of all arms count, whichever are allowed. A choice is among equals, or by weight.
"""

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import lean, part
from lobandits.errors import LobInputError
from lobandits.orders import DAG, TOTAL, OrderTables

CUT = 1e-12  # lighter weights, relative to the heaviest, become 0


def checked_allowed(allowed: ArrayLike, n_users: int, n_arms: int) -> BoolArray:
    """Return a choice set as bool (1 or n_users, n_arms), at least one arm for every user."""
    array = np.asarray(allowed)
    if array.dtype != np.bool_ or array.shape not in ((n_arms,), (1, n_arms), (n_users, n_arms)):
        raise LobInputError(
            f"allowed must be True or False for each arm, of shape ({n_arms},) or "
            f"({n_users}, {n_arms}), got {array.dtype} of shape {array.shape}"
        )
    sets: BoolArray = np.ascontiguousarray(array.reshape(-1, n_arms))
    empty = ~sets.any(axis=1)
    if empty.any():
        whose = f"allowed[{int(empty.argmax())}]" if len(sets) > 1 else "allowed"
        raise LobInputError(f"{whose} allows no arm; every user needs at least one")
    return sets


@lean
def all_allowed(allowed: BoolArray) -> bool:
    """Tell whether one user may play every arm."""
    every = True
    for a in range(allowed.shape[0]):
        every &= allowed[a]
    return every


@lean
def list_tops(
    t: OrderTables, row: int, state: int, allowed: BoolArray, arms: IntArray, out: IntArray
) -> int:
    """Write Max(s) among the allowed ``arms``: those with none above; return how many.

    O(k) where what is above an allowed arm is mostly allowed too; at worst, for trees
    O(k depth), for a DAG O(k^2).
    """
    n = 0
    if t.kind[row, state] == TOTAL:
        while not allowed[t.sequence[row, state, n]]:
            n += 1
        out[0] = t.sequence[row, state, n]
        return 1
    for j in range(arms.shape[0]):
        if not allowed_above(t, row, state, arms[j], allowed):
            out[n] = arms[j]
            n += 1
    return n


@part
def allowed_above(t: OrderTables, row: int, state: int, arm: int, allowed: BoolArray) -> bool:
    """Tell whether some allowed arm is above ``arm``."""
    found = False
    if t.kind[row, state] == DAG:
        for b in range(allowed.shape[0]):
            found |= allowed[b] and t.above[row, state, b, arm]
        return found
    b = t.parent[row, state, arm]
    while b >= 0 and not found:
        found = allowed[b]
        b = t.parent[row, state, b]
    return found


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


def normalised(odds: FloatArray) -> FloatArray:
    """Return odds (n_users, n_arms) as chances that sum to one."""
    chances: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return chances


def draw_arms(odds: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its odds."""
    chosen = np.empty(len(odds), np.int64)
    write_draws(odds, noise, chosen)
    return chosen


@lean
def write_draws(odds: FloatArray, noise: FloatArray, chosen: IntArray) -> None:
    """Write an arm for each user, drawn by its odds. Cost O(n k).

    Handing an array in takes half a microsecond less than getting one back.
    """
    for u in range(len(odds)):
        chosen[u], _ = draw_weighted(odds[u], odds[u].sum(), noise[u])
