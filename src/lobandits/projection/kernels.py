"""Exact weighted isotonic regression: the kernels that choose by the order's structure.

All of them solve, for one order and optionally one arm ``top`` above all others,

    min over mu of sum_a w_a (mu_a - y_a)^2   subject to   mu_a >= mu_b  wherever a is above b,

where arms of weight zero cost nothing and bind the others only through the order's closure.
"""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean, part
from lobandits.orders import CHAINS, DAG, TOTAL, OrderTables
from lobandits.projection.chains import fill_chains, pool_chains
from lobandits.projection.forest import fill_forest, pool_forest
from lobandits.projection.mincut import split_dag
from lobandits.projection.roots import raise_top, rank_blocks, total_loss
from lobandits.projection.scratch import Scratch
from lobandits.projection.total import fill_chain, pool_chain
from lobandits.projection.unplayed import place_unplayed


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
        losses[i] = fit_one(y, w, t, 0, states[i], tops[i], fit, s)
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
