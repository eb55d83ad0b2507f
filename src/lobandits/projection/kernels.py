"""Exact weighted isotonic regression: the kernels that choose by the order's structure.

All of them solve, for one order and optionally one arm ``top`` above all others,

    min over mu of sum_a w_a (mu_a - y_a)^2   subject to   mu_a >= mu_b  wherever a is above b,

where arms of weight zero cost nothing and bind the others only through the order's closure; where
their fit is asked for, it is their value cut to what the order allows.
"""

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.orders import DAG, TOTAL, OrderTables
from lobandits.projection.chains import (
    fill_chains,
    pool_chains,
    raise_top,
    rank_blocks,
    total_loss,
)
from lobandits.projection.mincut import split_dag
from lobandits.projection.scratch import Scratch
from lobandits.projection.total import fill_order, order_loss, pool_order


@kernel
def fit_one(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    s: Scratch,
) -> float:
    """Project on one state's cone (and ``top`` above all, unless -1); return the loss.

    In ``fit`` only arms with weight matter. O(k) for a total order and chains.
    """
    if t.kind[u, state] == DAG:
        return split_dag(values, weights, t.above[u, state], top, fit, s)
    if t.kind[u, state] == TOTAL:
        totals, sequence = multiplied(values, weights, s), t.sequence[u, state]
        n, loss = pool_order(totals, weights, sequence, np.inf, s.stack)
        fill_order(sequence, n, fit, s.stack)
        return loss
    sequence, linked = t.sequence[u, state], t.linked[u, state]
    n, chains = pool_chains(values, weights, sequence, linked, s.blocks, s.chains)
    cap, raised, loss = np.inf, -1, total_loss(chains, s.chains)
    if top >= 0 and chains > 1 and weights[top] > 0.0:
        rank_blocks(n, s.blocks, s.ranked)
        y, w = values[top], weights[top]
        cap, loss = raise_top(n, chains, top, y, w, s.blocks, s.ranked, s.chains)
        raised = top
    fill_chains(sequence, n, raised, cap, fit, s.blocks)
    if raised >= 0:
        fit[raised] = cap
    return loss


@kernel
def multiplied(values: FloatArray, weights: FloatArray, s: Scratch) -> FloatArray:
    """Return weights times values, in the working memory."""
    for a in range(values.shape[0]):
        s.totals[a] = values[a] * weights[a]
    return s.totals


@kernel
def project_rows(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    states: IntArray,
    tops: IntArray,
    fits: FloatArray,
    losses: FloatArray,
    s: Scratch,
) -> None:
    """Project row i on the cone of ``states[i]`` with ``tops[i]`` above all others."""
    for i in range(values.shape[0]):
        y, w, fit = values[i], weights[i], fits[i]
        losses[i] = fit_one(y, w, t, 0, states[i], tops[i], fit, s)
        place_unplayed(y, w, t, 0, states[i], tops[i], fit, s.low)


@kernel
def losses_of_chains(
    values: FloatArray, weights: FloatArray, t: OrderTables, out: FloatArray, s: Scratch
) -> None:
    """Fill ``out[i, state, a]``: the loss of row i's best fit with arm a on top, but of DAGs."""
    for i in range(values.shape[0]):
        u = i if t.maximal.shape[0] > 1 else 0
        for state in range(t.maximal.shape[1]):
            if t.kind[u, state] != DAG:
                losses_of_roots(values[i], weights[i], t, u, state, out[i, state], s)


@kernel
def losses_of_roots(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    out: FloatArray,
    s: Scratch,
) -> None:
    """Fill ``out[a]`` for the best arm a of each chain of one state; all are pooled once."""
    sequence, linked = t.sequence[u, state], t.linked[u, state]
    if t.kind[u, state] == TOTAL:
        out[sequence[0]] = order_loss(
            multiplied(values, weights, s), weights, sequence, np.inf, s.stack
        )
        return
    n, chains = pool_chains(values, weights, sequence, linked, s.blocks, s.chains)
    rank_blocks(n, s.blocks, s.ranked)
    for c in range(chains):
        arm = s.chains[c].root
        y, w = values[arm], weights[arm]
        out[arm] = raise_top(n, chains, arm, y, w, s.blocks, s.ranked, s.chains)[1]


@kernel
def losses_of_dags(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    out: FloatArray,
    fit: FloatArray,
    s: Scratch,
) -> None:
    """Fill ``out[i, state, a]`` as `losses_of_chains` does, for the states that are DAGs."""
    for i in range(values.shape[0]):
        u = i if t.maximal.shape[0] > 1 else 0
        for state in range(t.maximal.shape[1]):
            if t.kind[u, state] == DAG:
                losses_of_tops(values[i], weights[i], t, u, state, out[i, state], fit, s)


@kernel
def losses_of_tops(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    out: FloatArray,
    fit: FloatArray,
    s: Scratch,
) -> None:
    """Fill ``out[a]`` for each maximal arm a of one state that is a DAG."""
    for arm in range(values.shape[0]):
        if t.maximal[u, state, arm]:
            out[arm] = split_dag(values, weights, t.above[u, state], arm, fit, s)


@kernel
def place_unplayed(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    low: FloatArray,
) -> None:
    """Give each arm of weight zero the value nearest its own that keeps the order.

    From the top down, each gets at least the highest fit below it and at most the lowest fit
    above. Rounding of weighted arms is cut too. O(k), in a DAG O(k^2).
    """
    highest = highest_below(weights, t, u, state, fit, low)
    if top >= 0 and weights[top] == 0.0:
        fit[top] = max(values[top], highest)
    for j in range(values.shape[0]):
        arm = t.sequence[u, state, j]
        high = np.inf if top < 0 or arm == top else fit[top]
        high = min(high, lowest_above(t, u, state, arm, fit))
        if weights[arm] > 0.0:
            fit[arm] = min(fit[arm], high)
        elif arm != top:
            fit[arm] = min(max(values[arm], low[arm]), high)


@kernel
def highest_below(
    weights: FloatArray, t: OrderTables, u: int, state: int, fit: FloatArray, low: FloatArray
) -> float:
    """Write the highest fit of the weighted arms at or below each arm; return that of all.

    Invariant: an arm done, from the lowest up, knows it.
    """
    k = weights.shape[0]
    highest = -np.inf
    for arm in range(k):
        low[arm] = fit[arm] if weights[arm] > 0.0 else -np.inf
        highest = max(highest, low[arm])
    for j in range(k - 1, -1, -1):
        arm = t.sequence[u, state, j]
        if t.kind[u, state] == DAG:
            for b in range(k):
                if t.above[u, state, arm, b]:
                    low[arm] = max(low[arm], low[b])
        elif t.parent[u, state, arm] >= 0:
            parent = t.parent[u, state, arm]
            low[parent] = max(low[parent], low[arm])
    return highest


@kernel
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
