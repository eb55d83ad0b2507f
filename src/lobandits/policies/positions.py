r"""Where an order puts each arm on a line, and which arms it connects.

The position of arm a is

.. math:: z_a = (|\{b : a \succ b\}| - |\{b : b \succ a\}|) / (2 s), \qquad s^2 = (k^2 - 1) / 12,

with s the standard deviation of 0, ..., k - 1. On a chain that is the rank, centred, over s; in
any order the positions of connected arms sum to 0.
"""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import DAG, TOTAL, OrderTables


@lean
def place_arms(
    t: OrderTables, row: int, state: int, z: FloatArray, group: IntArray, below: IntArray
) -> int:
    """Write the positions and the groups of connected arms, 0, 1, ...; return how many groups.

    ``below`` is room. O(k), for a DAG O(k^2) and some relabelling.
    """
    k = z.shape[0]
    unit = 0.5 / np.sqrt((k * k - 1.0) / 12.0) if k > 1 else 0.0
    if t.kind[row, state] == TOTAL:
        for j in range(k):
            arm = t.sequence[row, state, j]
            z[arm] = unit * (k - 1 - 2 * j)
            group[arm] = 0
        return 1
    if t.kind[row, state] == DAG:
        return place_dag(t.above[row, state], unit, z, group, below)
    return place_forest(t, row, state, unit, z, group, below)


@lean
def place_forest(
    t: OrderTables,
    row: int,
    state: int,
    unit: float,
    z: FloatArray,
    group: IntArray,
    below: IntArray,
) -> int:
    """Place trees: an arm has its depth above it, and the rest of its subtree below."""
    k = z.shape[0]
    n_groups = 0
    for j in range(k):
        arm = t.sequence[row, state, j]
        upper = t.parent[row, state, arm]
        below[arm] = 0
        if upper < 0:
            z[arm] = 0.0
            group[arm] = n_groups
            n_groups += 1
        else:
            z[arm] = z[upper] - 1.0
            group[arm] = group[upper]
    for j in range(k - 1, -1, -1):
        arm = t.sequence[row, state, j]
        upper = t.parent[row, state, arm]
        if upper >= 0:
            below[upper] += below[arm] + 1
        z[arm] = unit * (z[arm] + below[arm])
    return n_groups


@lean
def place_dag(above: BoolArray, unit: float, z: FloatArray, group: IntArray, name: IntArray) -> int:
    """Place any order from its closure.

    Invariant: among the arms done, those with one group are connected; a new arm starts its own
    and joins it with all that it is related to.
    """
    k = z.shape[0]
    for a in range(k):
        z[a] = 0.0
        group[a] = a
        for b in range(k):
            z[a] += unit * (above[a, b] * 1.0 - above[b, a] * 1.0)
        for b in range(a):
            if (above[a, b] or above[b, a]) and group[b] != group[a]:
                old = group[b]
                for c in range(a):
                    if group[c] == old:
                        group[c] = group[a]
    n_groups = 0
    for a in range(k):
        name[a] = -1
    for a in range(k):
        if name[group[a]] < 0:
            name[group[a]] = n_groups
            n_groups += 1
        group[a] = name[group[a]]
    return n_groups
