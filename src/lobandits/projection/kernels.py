"""Exact weighted isotonic regression: the kernels that choose by the order's structure.

All of them solve, for one order and optionally one arm ``top`` above all others,

    min over mu of sum_a w_a (mu_a - y_a)^2   subject to   mu_a >= mu_b  wherever a is above b,

where arms of weight zero cost nothing and bind the others only through the order's closure.
"""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import CHAINS, DAG, TOTAL, OrderTables
from lobandits.projection.mincut import split_dag
from lobandits.projection.pooling import (
    Scratch,
    absorb_below,
    fill_chains,
    fill_forest,
    pool_chains,
    pool_forest,
    raise_top,
    rank_blocks,
)


@lean
def pool_chain(
    values: FloatArray, weights: FloatArray, sequence: IntArray, s: Scratch
) -> tuple[int, float]:
    """Pool adjacent violators from the lowest arm up; return the number of blocks and the loss.

    Invariant: blocks rise in value, on the stack and to the one in hand. That one is not stored,
    and means are compared without a division: both would hold up the next comparison, which the
    processor can seldom foresee. O(k).
    """
    n = 0
    loss = total = weight = 0.0
    start = 0
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = sequence[j]
        w = weights[arm]
        if w == 0.0:
            continue
        sum_ = w * values[arm]
        excess = total * w - sum_ * weight
        if excess > 0.0:
            both = weight + w
            loss += excess * excess / (weight * w * both)
            n, total, weight, loss = absorb_below(total + sum_, both, loss, 0, n, s)
        else:
            if weight > 0.0:
                push(n, total, weight, start, s)
                n += 1
            total = sum_
            weight = w
        start = j
    if weight > 0.0:
        push(n, total, weight, start, s)
        n += 1
    return n, loss


@lean
def push(n: int, total: float, weight: float, start: int, s: Scratch) -> None:
    """Put a block on the stack; its uppermost arm stands at ``start``."""
    s[n].total = total
    s[n].weight = weight
    s[n].position = start


@lean
def fill_chain(
    values: FloatArray, weights: FloatArray, sequence: IntArray, n: int, fit: FloatArray, s: Scratch
) -> None:
    """Write the means of the blocks; an arm alone keeps its own bits.

    Blocks rise in value also after rounding. Invariant of the last loop: b is the block at j.
    """
    highest = -np.inf
    for b in range(n):
        head = sequence[s[b].position]
        mean = s[b].total / s[b].weight
        highest = max(highest, values[head] if s[b].weight == weights[head] else mean)
        s[b].value = highest
    if n > 0:
        b = n - 1
        for j in range(sequence.shape[0]):
            b -= (b > 0) & (s[max(b - 1, 0)].position == j)
            fit[sequence[j]] = s[b].value


@lean
def ordinary(values: FloatArray, weights: FloatArray, largest: float) -> bool:
    """Tell whether all values are finite, all weights zero or positive, and none too large."""
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
        return pool_chains(values, weights, t.sequence[u, state], t.linked[u, state], s)
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
    """Project on one state's cone (and ``top`` above all, unless -1); return the loss.

    In ``fit`` only arms with weight matter.
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

    First comes the highest weighted fit below each arm; then, from the top down, each gets at
    least that and at most the lowest fit above. Rounding of weighted arms is cut too.
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

    Only arms that can be on top are written.
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
                n, trees = pool(y, w, t, u, state, s)  # shared by all roots
                rank_blocks(n, s)
                for tree in range(trees):
                    arm = s[tree].root
                    out[i, state, arm] = raise_top(n, trees, arm, y[arm], w[arm], s)[1]
            else:
                above = t.above[u, state]
                for arm in range(k):
                    if t.maximal[u, state, arm]:
                        out[i, state, arm] = split_dag(y, w, above, arm, fit, s, flow)
