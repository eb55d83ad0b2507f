"""Exact weighted isotonic regression: the kernels that choose by the order's structure.

All of them solve, for one order and optionally one arm ``top`` above all others,

    min over mu of sum_a w_a (mu_a - y_a)^2   subject to   mu_a >= mu_b  wherever a is above b,

where arms of weight zero cost nothing and bind the others only through the order's closure; where
their fit is asked for, it is their value cut to what the order allows.
"""

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.basics.kernel import ZERO, lean, part
from lobandits.orders import CHAINS, DAG, TOTAL, OrderTables
from lobandits.projection.mincut import split_dag
from lobandits.projection.scratch import Records, Scratch
from lobandits.projection.total import fill_chain, pool_chain
from lobandits.projection.trees import (
    fill_chains,
    fill_forest,
    pool_chains,
    pool_forest,
    raise_top,
    rank_blocks,
    total_loss,
)


@part
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

    In ``fit`` only arms with weight matter. O(k) for a total order and chains, O(k^2) for a
    forest.
    """
    if t.kind[u, state] == TOTAL:
        sequence = t.sequence[u, state]
        n, loss = pool_chain(values, weights, sequence, s.blocks, s.heads)
        fill_chain(values, weights, sequence, n, fit, s.blocks, s.heads)
        return loss
    if t.kind[u, state] == DAG:
        return split_dag(values, weights, t.above[u, state], top, fit, s)
    return fit_trees(values, weights, t, u, state, top, fit, s)


@lean
def fit_trees(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    s: Scratch,
) -> float:
    """Do as `fit_one`, on chains or a forest: pool each tree, then raise ``top`` above all."""
    n, trees = pool_trees(values, weights, t, u, state, s)
    cap = np.inf
    raised = -1
    if top >= 0 and trees > 1 and weights[top] > 0.0:
        rank_blocks(n, s.blocks, s.ranked)
        cap, loss = raise_top(n, trees, top, values[top], weights[top], s.blocks, s.ranked, s.trees)
        raised = top
    else:
        loss = total_loss(trees, s.trees)
    sequence, parent = t.sequence[u, state], t.parent[u, state]
    if t.kind[u, state] == CHAINS:
        fill_chains(sequence, n, raised, cap, fit, s.blocks)
    else:
        fill_forest(weights, sequence, parent, n, raised, cap, fit, s.blocks, s.arms)
    if raised >= 0:
        fit[raised] = cap
    return loss


@part
def pool_trees(
    values: FloatArray, weights: FloatArray, t: OrderTables, u: int, state: int, s: Scratch
) -> tuple[int, int]:
    """Pool chains or a forest; return how many blocks and how many trees."""
    if t.kind[u, state] == CHAINS:
        linked = t.linked[u, state]
        return pool_chains(values, weights, t.sequence[u, state], linked, s.blocks, s.trees)
    parent = t.parent[u, state]
    return pool_forest(values, weights, t.sequence[u, state], parent, s.blocks, s.trees, s.arms)


@lean
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
        losses[i] = fit_one(y, w, t, ZERO, states[i], tops[i], fit, s)
        incomplete = t.kind[0, states[i]] != TOTAL
        for arm in range(w.shape[0]):
            incomplete |= w[arm] == 0.0
        if incomplete:
            place_unplayed(y, w, t, 0, states[i], tops[i], fit, s.arms)


@lean
def losses_rows(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    out: FloatArray,
    fit: FloatArray,
    s: Scratch,
) -> None:
    """Fill ``out[i, state, a]``: the loss of row i's best fit with arm a on top.

    Only arms that can be on top are written. Chains and trees are pooled once for all their
    roots.
    """
    for i in range(values.shape[0]):
        u = i if t.maximal.shape[0] > 1 else 0
        for state in range(t.maximal.shape[1]):
            if t.kind[u, state] == TOTAL:
                sequence = t.sequence[u, state]
                _, loss = pool_chain(values[i], weights[i], sequence, s.blocks, s.heads)
                out[i, state, sequence[0]] = loss
            else:
                losses_of_tops(values[i], weights[i], t, u, state, out[i, state], fit, s)


@part
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
    """Fill ``out[a]`` for each arm a that can be on top of a partial order."""
    if t.kind[u, state] == DAG:
        for arm in range(values.shape[0]):
            if t.maximal[u, state, arm]:
                out[arm] = split_dag(values, weights, t.above[u, state], arm, fit, s)
        return
    n, trees = pool_trees(values, weights, t, u, state, s)
    rank_blocks(n, s.blocks, s.ranked)
    for tree in range(trees):
        arm = s.trees[tree].root
        y, w = values[arm], weights[arm]
        out[arm] = raise_top(n, trees, arm, y, w, s.blocks, s.ranked, s.trees)[1]


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
