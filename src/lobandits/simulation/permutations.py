"""Distinct random permutations, drawn for several users at once."""

from math import factorial

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import IntArray
from lobandits.errors import LobInputError

# Below this many permutations for each one asked for, drawing again what came twice is slow.
CROWDED = 4


def check_enough(n_states: int, n_arms: int) -> None:
    """Refuse more distinct orders than there are."""
    if n_arms <= 20 and n_states > factorial(n_arms):
        raise LobInputError(
            f"{n_arms} arms have only {factorial(n_arms)} orders, but n_states is {n_states}"
        )


def distinct_permutations(
    rng: np.random.Generator, n_users: int, n_states: int, n_arms: int
) -> IntArray:
    """Draw, for each user, a uniform sequence of distinct permutations.

    Returns an array of shape (n_users, n_states, n_arms).
    """
    if n_arms <= 20 and factorial(n_arms) <= CROWDED * n_states:
        numbers = np.tile(np.arange(factorial(n_arms)), (n_users, 1))
        return unrank(rng.permuted(numbers, axis=1)[:, :n_states], n_arms)
    rows = np.broadcast_to(np.arange(n_arms), (n_users, n_states, n_arms))
    drawn = rng.permuted(rows, axis=-1)
    while (again := repeats(drawn)).any():
        drawn[again] = rng.permuted(drawn[again], axis=-1)
    return drawn


def unrank(numbers: IntArray, n_arms: int) -> IntArray:
    """Return the permutations with these numbers, in lexicographic order.

    Examples
    --------
    >>> unrank(np.array([0, 1, 5]), 3)
    array([[0, 1, 2],
           [0, 2, 1],
           [2, 1, 0]])
    """
    result = np.zeros((*numbers.shape, n_arms), dtype=np.int64)
    for place in range(n_arms - 1, -1, -1):
        base = factorial(n_arms - 1 - place)
        digit = numbers // base % (n_arms - place)
        later = result[..., place + 1 :]
        later += later >= digit[..., None]
        result[..., place] = digit
    return result


def repeats(drawn: IntArray) -> NDArray[np.bool_]:
    """Return which permutations came earlier for the same user, of shape (n_users, n_states).

    A hash finds candidates for all users at once; only users with two equal hashes, almost
    never any, are compared exactly.
    """
    found = np.zeros(drawn.shape[:2], dtype=np.bool_)
    powers = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, drawn.shape[2] + 1, dtype=np.uint64)
    hashes = np.sort((drawn.astype(np.uint64) * powers).sum(axis=-1), axis=-1)
    for user in np.flatnonzero((hashes[:, 1:] == hashes[:, :-1]).any(axis=1)):
        _, first = np.unique(drawn[user], axis=0, return_index=True)
        found[user] = True
        found[user, first] = False
    return found
