"""Exact weighted isotonic regression: the kernels that choose by the order's structure.

All of them solve, for one order and optionally one arm ``top`` above all others,

    min over mu of sum_a w_a (mu_a - y_a)^2   subject to   mu_a >= mu_b  wherever a is above b,

where arms of weight zero cost nothing and bind the others only through the order's closure.
"""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import CHAINS, DAG, TOTAL, OrderTables
from lobandits.projection.chain import fill_chain, pool_chain
from lobandits.projection.mincut import split_dag
from lobandits.projection.pooling import (
    fill_chains,
    fill_forest,
    pool_chains,
    pool_forest,
    raise_top,
    rank_blocks,
    settle_chains,
)
from lobandits.projection.scratch import Scratch


@lean
def ordinary(values: FloatArray, weights: FloatArray, largest: float) -> bool:
    """Tell whether all values are finite and all weights zero or positive, in sizes we can take."""
    fine = True
    for i in range(values.shape[0]):
        w = weights[i]
        fine &= (abs(values[i]) <= largest) & (w <= largest) & ((w >= 1.0 / largest) | (w == 0.0))
    return fine


@lean
def pool(
    values: FloatArray, weights: FloatArray, t: OrderTables, u: int, state: int, s: Scratch
) -> tuple[int, int]:
    """Pool chains or a forest; return how many blocks and how many trees."""
    if t.kind[u, state] == CHAINS:
        counts = pool_chains(values, weights, t.sequence[u, state], t.linked[u, state], s)
        settle_chains(values, weights, counts[0], s)
        return counts
    return pool_forest(values, weights, t.sequence[u, state], t.parent[u, state], s)


@lean
def fit_one(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    s: Scratch,
    flow: FloatArray,
) -> float:
    """Project one vector on one state's cone (and ``top`` above all, unless -1); return the loss.

    Only the values of the arms with weight matter in ``fit``.
    """
    if t.kind[u, state] == DAG:
        return split_dag(values, weights, t.above[u, state], top, fit, s, flow)
    if t.kind[u, state] == TOTAL:
        n, loss = pool_chain(values, weights, t.sequence[u, state], s)
        fill_chain(values, weights, t.sequence[u, state], n, fit, s)
        return loss
    n, trees = pool(values, weights, t, u, state, s)
    cap = np.inf
    loss = 0.0
    raised = -1
    if top >= 0 and trees > 1 and weights[top] > 0.0:
        rank_blocks(n, s)
        cap, loss = raise_top(n, trees, top, values[top], weights[top], s)
        raised = top
    else:
        for i in range(trees):
            loss += s[i].loss
    if t.kind[u, state] == CHAINS:
        fill_chains(t.sequence[u, state], n, raised, cap, fit, s)
    else:
        fill_forest(weights, t.sequence[u, state], t.parent[u, state], n, raised, cap, fit, s)
    if raised >= 0:
        fit[raised] = cap
    return loss


@lean
def place_unplayed(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    top: int,
    fit: FloatArray,
    s: Scratch,
) -> None:
    """Give each arm of weight zero the value nearest its own that keeps the order.

    Weighted arms are cut by what rounding puts them above their betters. First comes the
    highest weighted fit below each arm; then, from the top down, each arm gets at least that and
    at most the lowest fit above.
    """
    k = values.shape[0]
    dag = t.kind[u, state] == DAG
    highest = -np.inf
    for arm in range(k):
        s[arm].low = fit[arm] if weights[arm] > 0.0 else -np.inf
        highest = max(highest, s[arm].low)
    for j in range(k - 1, -1, -1):
        arm = t.sequence[u, state, j]
        if dag:
            for b in range(k):
                if t.above[u, state, arm, b]:
                    s[arm].low = max(s[arm].low, s[b].low)
        elif t.parent[u, state, arm] >= 0:
            p = t.parent[u, state, arm]
            s[p].low = max(s[p].low, s[arm].low)
    if top >= 0 and weights[top] == 0.0:
        fit[top] = max(values[top], highest)
    for j in range(k):
        arm = t.sequence[u, state, j]
        high = np.inf if top < 0 or arm == top else fit[top]
        if dag:
            for a in range(k):
                if t.above[u, state, a, arm]:
                    high = min(high, fit[a])
        elif t.parent[u, state, arm] >= 0:
            high = min(high, fit[t.parent[u, state, arm]])
        if weights[arm] > 0.0:
            fit[arm] = min(fit[arm], high)
        elif arm != top:
            fit[arm] = min(max(values[arm], s[arm].low), high)


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
    flow: FloatArray,
) -> None:
    """Project row i on the cone of ``states[i]`` with ``tops[i]`` above all others."""
    for i in range(values.shape[0]):
        y, w, fit = values[i], weights[i], fits[i]
        losses[i] = fit_one(y, w, t, 0, states[i], tops[i], fit, s, flow)
        incomplete = t.kind[0, states[i]] != TOTAL
        for arm in range(w.shape[0]):
            incomplete |= w[arm] == 0.0
        if incomplete:
            place_unplayed(y, w, t, 0, states[i], tops[i], fit, s)


@lean
def losses_of_tops(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    u: int,
    state: int,
    i: int,
    out: FloatArray,
    s: Scratch,
) -> None:
    """Fill ``out[i, state]`` for chains or a forest: all roots share the pooling."""
    n, trees = pool(values, weights, t, u, state, s)
    rank_blocks(n, s)
    for tree in range(trees):
        arm = s[tree].root
        out[i, state, arm] = raise_top(n, trees, arm, values[arm], weights[arm], s)[1]


@lean
def losses_rows(
    values: FloatArray,
    weights: FloatArray,
    t: OrderTables,
    out: FloatArray,
    fit: FloatArray,
    s: Scratch,
    flow: FloatArray,
) -> None:
    """Fill ``out[i, s, a]``: the loss of row i's best fit in state s with arm a on top.

    ``out`` comes filled with infinity; only the arms that can be on top are written.
    """
    m, k = t.maximal.shape[1:]
    for i in range(values.shape[0]):
        u = i if t.maximal.shape[0] > 1 else 0
        y, w = values[i], weights[i]
        for state in range(m):
            if t.kind[u, state] == TOTAL:
                best = t.sequence[u, state, 0]
                out[i, state, best] = pool_chain(y, w, t.sequence[u, state], s)[1]
            elif t.kind[u, state] != DAG:
                losses_of_tops(y, w, t, u, state, i, out, s)
            else:
                above = t.above[u, state]
                for arm in range(k):
                    if t.maximal[u, state, arm]:
                        out[i, state, arm] = split_dag(y, w, above, arm, fit, s, flow)
