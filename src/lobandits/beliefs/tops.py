"""Tops: which arms an order can put on top among those that are allowed, Max(s)."""

import numpy as np

from lobandits.basics.checks import BoolArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.orders import DAG, TOTAL, OrderTables


@kernel
def list_tops(t: OrderTables, row: int, state: int, allowed: BoolArray, out: IntArray) -> int:
    """Write the allowed arms that no allowed arm is above in a state; return how many.

    O(k) for a total order, O(k depth) for chains, O(k^2) for a DAG.
    """
    if t.kind[row, state] == TOTAL:
        j = 0
        while not allowed[t.sequence[row, state, j]]:
            j += 1
        out[0] = t.sequence[row, state, j]
        return 1
    n = 0
    for a in range(len(allowed)):
        if allowed[a] and not has_above(t, row, state, a, allowed):
            out[n] = a
            n += 1
    return n


@kernel
def has_above(t: OrderTables, row: int, state: int, arm: int, allowed: BoolArray) -> bool:
    """Tell whether some allowed arm is above ``arm`` in a state."""
    if t.kind[row, state] == DAG:
        return bool((allowed & t.above[row, state, :, arm]).any())
    b = t.parent[row, state, arm]
    while b >= 0 and not allowed[b]:
        b = t.parent[row, state, b]
    return bool(b >= 0)


@kernel
def mark_tops(t: OrderTables, states: BoolArray, allowed: BoolArray, out: BoolArray) -> None:
    """Mark the arms in Max(s) of some of a user's ``states``, (1 or n, m), for each row of out."""
    tops = np.empty(out.shape[1], np.int64)
    for u in range(len(out)):
        out[u] = False
        row, among = u if len(t.kind) > 1 else 0, allowed[u if len(allowed) > 1 else 0]
        everything = among.all()
        for s in range(t.kind.shape[1]):
            if not states[u if len(states) > 1 else 0, s]:
                continue
            if everything:
                out[u] |= t.maximal[row, s]
            else:
                for j in range(list_tops(t, row, s, among, tops)):
                    out[u, tops[j]] = True


def tops_of(t: OrderTables, states: BoolArray, allowed: BoolArray) -> BoolArray:
    """Return the allowed arms on top of some of these states, (n_users, n_arms)."""
    out = np.empty((max(len(t.kind), len(states), len(allowed)), t.sequence.shape[2]), np.bool_)
    mark_tops(t, states, allowed, out)
    return out
