"""Distinct random permutations, for many users at once."""

import math
from itertools import permutations

import numpy as np

from lobandits._checks import BoolArray, IntArray
from lobandits.errors import LobInputError

CROWDED = 4  # with fewer permutations per state, drawing again what came twice is slow


def check_enough(n_states: int, n_arms: int) -> None:
    """Refuse more distinct orders than there are."""
    if n_arms <= 20 and n_states > math.factorial(n_arms):
        raise LobInputError(
            f"{n_arms} arms have only {math.factorial(n_arms)} orders, but n_states is {n_states}"
        )


def distinct_permutations(
    rng: np.random.Generator, n_users: int, n_states: int, n_arms: int
) -> IntArray:
    """Draw a uniform sequence of distinct permutations for each user."""
    if n_arms <= 20 and math.factorial(n_arms) <= CROWDED * n_states:
        numbers = np.tile(np.arange(math.factorial(n_arms)), (n_users, 1))
        return unrank(rng.permuted(numbers, axis=1)[:, :n_states], n_arms)
    rows = np.broadcast_to(np.arange(n_arms), (n_users, n_states, n_arms))
    drawn = rng.permuted(rows, axis=-1)
    while (again := repeats(drawn)).any():
        drawn[again] = rng.permuted(drawn[again], axis=-1)
    return drawn


def unrank(numbers: IntArray, n_arms: int) -> IntArray:
    """Return the permutations with these numbers, in lexicographic order."""
    every: IntArray = np.array(list(permutations(range(n_arms))))
    return every[numbers]


def repeats(drawn: IntArray) -> BoolArray:
    """Return which permutations came earlier for the same user: (n_users, n_states).

    Only users with two equal hashes, almost never any, are compared exactly.
    """
    found = np.zeros(drawn.shape[:2], dtype=np.bool_)
    powers = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, drawn.shape[2] + 1, dtype=np.uint64)
    hashes = np.sort((drawn.astype(np.uint64) * powers).sum(axis=-1), axis=-1)
    for user in np.flatnonzero((hashes[:, 1:] == hashes[:, :-1]).any(axis=1)):
        _, first = np.unique(drawn[user], axis=0, return_index=True)
        found[user] = True
        found[user, first] = False
    return found
