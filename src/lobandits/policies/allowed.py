"""Choice sets: which arms may be played now. The rewards of all arms count all the same."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray
from lobandits._jit import lean
from lobandits.errors import LobInputError
from lobandits.orders import DAG, TOTAL, OrderTables


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
def mark_tops(t: OrderTables, row: int, state: int, allowed: BoolArray, out: BoolArray) -> int:
    """Mark Max(s) among the allowed arms: those with no allowed arm above; return how many.

    O(k), for trees O(k depth), for a DAG O(k^2).
    """
    k = allowed.shape[0]
    if t.kind[row, state] == TOTAL:
        out[:] = False
        for j in range(k):
            if allowed[t.sequence[row, state, j]]:
                out[t.sequence[row, state, j]] = True
                return 1
        return 0
    n = 0
    for a in range(k):
        out[a] = allowed[a]
        if t.kind[row, state] == DAG:
            for b in range(k):
                out[a] &= not (allowed[b] and t.above[row, state, b, a])
        else:
            b = t.parent[row, state, a]
            while b >= 0:
                out[a] &= not allowed[b]
                b = t.parent[row, state, b]
        n += out[a]
    return n
