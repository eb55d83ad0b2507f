"""Values for the arms of weight zero, which a projection leaves open."""

import numpy as np

from lobandits._checks import FloatArray
from lobandits._jit import lean
from lobandits.orders import DAG, OrderTables
from lobandits.projection.scratch import Records


@lean
def place_unplayed(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    arms: Records,
) -> None:
    """Give each arm of weight zero the value nearest its own that keeps the order.

    From the top down, each gets at least the highest fit below it and at most the lowest fit
    above. Rounding of weighted arms is cut too. O(k), in a DAG O(k^2).
    """
    highest = highest_below(weights, t, u, state, fit, arms)
    if top >= 0 and weights[top] == 0.0:
        fit[top] = max(values[top], highest)
    for j in range(values.shape[0]):
        arm = t.sequence[u, state, j]
        high = np.inf if top < 0 or arm == top else fit[top]
        high = min(high, lowest_above(t, u, state, arm, fit))
        if weights[arm] > 0.0:
            fit[arm] = min(fit[arm], high)
        elif arm != top:
            fit[arm] = min(max(values[arm], arms[arm].low), high)


@lean
def highest_below(
    weights: FloatArray, t: OrderTables, u: int, state: int, fit: FloatArray, arms: Records
) -> float:
    """Write the highest fit of the weighted arms at or below each arm; return that of all.

    Invariant: an arm done, from the lowest up, knows it.
    """
    k = weights.shape[0]
    highest = -np.inf
    for arm in range(k):
        arms[arm].low = fit[arm] if weights[arm] > 0.0 else -np.inf
        highest = max(highest, arms[arm].low)
    for j in range(k - 1, -1, -1):
        arm = t.sequence[u, state, j]
        if t.kind[u, state] == DAG:
            for b in range(k):
                if t.above[u, state, arm, b]:
                    arms[arm].low = max(arms[arm].low, arms[b].low)
        elif t.parent[u, state, arm] >= 0:
            parent = t.parent[u, state, arm]
            arms[parent].low = max(arms[parent].low, arms[arm].low)
    return highest


@lean
def lowest_above(t: OrderTables, u: int, state: int, arm: int, fit: FloatArray) -> float:
    """Return the lowest fit of the arms above ``arm``; without a DAG, of the one directly above."""
    high = np.inf
    if t.kind[u, state] == DAG:
        for a in range(fit.shape[0]):
            if t.above[u, state, a, arm]:
                high = min(high, fit[a])
    elif t.parent[u, state, arm] >= 0:
        high = fit[t.parent[u, state, arm]]
    return high
