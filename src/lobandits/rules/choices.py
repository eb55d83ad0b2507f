"""Choices: which arms may be played now, and one of them from one uniform number.

The rewards of all arms count, whichever are allowed. A choice is among equals, or by weight.
"""

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.errors import LobInputError

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


def normalised(odds: FloatArray) -> FloatArray:
    """Return odds (n_users, n_arms) as chances that sum to one."""
    chances: FloatArray = odds / odds.sum(axis=1, keepdims=True)
    return chances


def draw_arms(odds: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its odds (n_users, n_arms) with one uniform each.

    By the inverse of the distribution function: the first arm up to which the odds sum to more than
    the uniform number times all. Rounding at the end falls to the last arm with odds.
    """
    return _first_above(odds.cumsum(axis=1), noise)


def _first_above(sums: FloatArray, noise: FloatArray) -> IntArray:
    target = np.minimum(noise * sums[:, -1], np.nextafter(sums[:, -1], 0.0))
    place: IntArray = (sums > target[:, None]).argmax(axis=1)
    return place


def draw_weighted(weights: FloatArray, uniform: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return, for each row, a place drawn by its weight as `draw_arms` does, and a new uniform.

    Within the weight that is drawn, what is left of the uniform number is uniform again.
    """
    sums, rows = weights.cumsum(axis=1), np.arange(len(weights))
    place = _first_above(sums, uniform)
    weight = weights[rows, place]
    left = (uniform * sums[:, -1] - (sums[rows, place] - weight)) / weight
    return place, np.clip(left, 0.0, np.nextafter(1.0, 0.0))


def pick(among: BoolArray, uniform: FloatArray) -> IntArray:
    """Return, for each row, one of the places ``among``, (n, k), each equally likely."""
    ties = among.sum(axis=1)
    skip = np.minimum((uniform * ties).astype(np.int64), ties - 1)
    chosen: IntArray = (among.cumsum(axis=1) == skip[:, None] + 1).argmax(axis=1)
    return chosen


def likeliness(logs: FloatArray) -> FloatArray:
    """Return exp(log - greatest log) of each row, 0 where that is below `CUT`."""
    weights = logs.copy()
    exponentiate(weights, CUT)
    return weights


@kernel
def exponentiate(logs: FloatArray, cut: float) -> None:
    """Replace each row's logs by exp(log - greatest log), 0 if below ``cut``."""
    least = np.log(cut)
    for row in logs:
        best = row.max()
        for i in range(len(row)):
            gap = row[i] - best
            row[i] = np.exp(gap) if gap >= least else 0.0
