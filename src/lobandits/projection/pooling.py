"""Isotonic regression on disjoint chains and forests, by pooling from below."""

from typing import Any

import numpy as np
from numba import config

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import lean

# Working memory of one projection: record i holds what concerns block i, tree i, arm i or, in
# a DAG, member i. A block is a set of arms that share one value, headed by its uppermost arm.
# Chains and trees are pooled from below, and the blocks under a root are kept beside the block
# that the root then forms of them, so that any root can still be put on top of all trees.
SCRATCH = np.dtype(
    [
        ("value", np.float64),  # block: its mean
        ("weight", np.float64),  # block: its total weight
        ("total", np.float64),  # block of a chain: the sum of w y
        ("head", np.int64),  # block: its uppermost arm
        ("position", np.int64),  # block of a chain: where its head stands in the sequence
        ("tree", np.int64),  # block: the root of its chain or tree
        ("taken", np.bool_),  # block: the root of its own tree has absorbed it
        ("rank", np.int64),  # blocks by falling value
        ("root", np.int64),  # tree: its maximal arm
        ("loss_below", np.float64),  # tree: the loss of its arms without the root
        ("loss", np.float64),  # tree: the loss of all its arms
        ("upper", np.int64),  # arm that heads a block: what it hangs from; -1, GONE or KEPT
        ("number", np.int64),  # arm: its tree
        ("block", np.int64),  # arm: the block that it heads, -1 if none
        ("carried", np.float64),  # arm: the value of the block it is in
        ("low", np.float64),  # arm: the highest fit below it
        ("offset", np.float64),  # arm: its value from its segment's origin
        ("member", np.int64),  # arms with weight, grouped by segment
        ("spare", np.int64),  # room to regroup a segment
        ("start", np.int64),  # stack of segments still to split
        ("stop", np.int64),
        ("sign", np.int64),  # member: +1 excess, -1 deficit, 0 neither
        ("excess", np.float64),  # member: what is still to cancel
        ("source", np.int64),  # member: where the search came from, -1 not reached
        ("queue", np.int64),
    ],
    align=True,
)
Scratch = np.recarray[Any, Any]
GONE, KEPT = -3, -2  # in `Scratch.upper`: no block, or one that a root has absorbed


def make_scratch(k: int) -> tuple[Scratch, FloatArray]:
    """Allocate the working memory for ``k`` arms: the records, and the flow of a min cut."""
    records: Any = np.empty(k, SCRATCH)
    if config.DISABLE_JIT:  # Numba reads fields of any record as attributes, Python does not
        records = records.view(np.recarray)
    return records, np.empty((k, k))


@lean
def absorb_below(
    total: float, weight: float, loss: float, first: int, n: int, s: Scratch
) -> tuple[int, float, float, float]:
    """Let a block on a chain absorb the blocks below it, up to ``first``, that exceed it.

    Return the lowest block absorbed, the sum of w y and the weight of all, and the loss so far.
    """
    while n > first:
        below = s[n - 1]
        excess = below.total * weight - total * below.weight
        if excess <= 0.0:
            break
        both = weight + below.weight
        loss += excess * excess / (weight * below.weight * both)
        total += below.total
        weight = both
        n -= 1
    return n, total, weight, loss


@lean
def pool_chains(
    values: FloatArray, weights: FloatArray, sequence: IntArray, linked: BoolArray, s: Scratch
) -> tuple[int, int]:
    """Pool adjacent violators on disjoint chains; return how many blocks and how many chains.

    Invariant: going up a chain, blocks rise in value; an arm alone keeps its own bits. O(k).
    """
    n = first = trees = 0
    loss = 0.0
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = sequence[j]
        weight = weights[arm]
        root = not linked[j]
        if root:
            s[trees].root = arm
            s[trees].loss_below = loss
        if weight > 0.0:
            i, total, weight, added = absorb_below(values[arm] * weight, weight, 0.0, first, n, s)
            loss += added
            if root:  # what a root takes is kept
                for b in range(i, n):
                    s[b].taken = True
            else:
                n = i
            s[n].total = total
            s[n].weight = weight
            s[n].head = arm
            s[n].position = j
            s[n].taken = False
            n += 1
        if root:
            s[trees].loss = loss
            loss = 0.0
            trees += 1
            for b in range(first, n):
                s[b].tree = arm
            first = n
    for b in range(n):
        mean = s[b].total / s[b].weight
        s[b].value = values[s[b].head] if s[b].weight == weights[s[b].head] else mean
    return n, trees


@lean
def number_trees(sequence: IntArray, parent: IntArray, s: Scratch) -> int:
    """Fill ``s.root`` and, per arm, ``s.number``; return how many trees there are."""
    trees = 0
    for j in range(sequence.shape[0]):
        arm = sequence[j]
        if parent[arm] < 0:
            s[trees].root = arm
            s[trees].loss_below = 0.0
            s[trees].loss = 0.0
            s[arm].number = trees
            trees += 1
        else:
            s[arm].number = s[parent[arm]].number
    return trees


@lean
def pool_forest(
    values: FloatArray, weights: FloatArray, sequence: IntArray, parent: IntArray, s: Scratch
) -> tuple[int, int]:
    """Pool a forest from the leaves up; return how many blocks and how many trees.

    Invariant: under every arm done, no block is higher than the one it hangs from. An arm absorbs
    the highest block under it while that one is higher. O(k^2) at worst.
    """
    k = sequence.shape[0]
    trees = number_trees(sequence, parent, s)
    for b in range(k):
        s[b].upper = GONE
    for j in range(k - 1, -1, -1):
        arm = int(sequence[j])
        w = weights[arm]
        if w == 0.0:  # what hangs from it now hangs from the arm above
            for b in range(k):
                if s[b].upper == arm:
                    s[b].upper = parent[arm]
            s[s[arm].number].loss = s[s[arm].number].loss_below
            continue
        root = parent[arm] < 0
        v = values[arm]
        loss = 0.0
        child = highest_under(arm, v, s)
        while child >= 0:
            total = s[child].weight + w
            share = s[child].weight / total
            step = s[child].value - v
            loss += w * share * step * step
            v += share * step
            w = total
            s[child].taken = True
            s[child].upper = KEPT if root else GONE
            for b in range(k):
                if s[b].upper == child:
                    s[b].upper = arm
            child = highest_under(arm, v, s)
        s[arm].value = v
        s[arm].weight = w
        s[arm].taken = False
        s[arm].upper = parent[arm]
        s[s[arm].number].loss = s[s[arm].number].loss_below + loss
        if not root:
            s[s[arm].number].loss_below += loss
    n = 0
    for arm in range(k):  # so far a block stood at its head's place; close the ranks
        if s[arm].upper != GONE:
            s[n].value = s[arm].value
            s[n].weight = s[arm].weight
            s[n].taken = s[arm].taken
            s[n].head = arm
            s[n].tree = s[s[arm].number].root
            n += 1
    return n, trees


@lean
def highest_under(arm: int, value: float, s: Scratch) -> int:
    """Return the highest block that hangs from ``arm`` and exceeds ``value``, -1 if none."""
    found = -1
    for b in range(s.shape[0]):
        if s[b].upper == arm and s[b].value > value:
            found = b
            value = s[b].value
    return found


@lean
def rank_blocks(n: int, s: Scratch) -> None:
    """Sort the blocks by falling value into ``s.rank`` (insertion sort: n is small)."""
    for b in range(n):
        i = b
        while i > 0 and s[s[i - 1].rank].value < s[b].value:
            s[i].rank = s[i - 1].rank
            i -= 1
        s[i].rank = b


@lean
def stands(b: int, raised: int, s: Scratch) -> bool:
    """Tell whether block b is part of the fit, where ``raised`` was put on top of all trees."""
    return s[b].head != raised if s[b].tree == raised else not s[b].taken


@lean
def raise_top(
    n: int, trees: int, top: int, value: float, weight: float, s: Scratch
) -> tuple[float, float]:
    """Put the root ``top`` above everything: return its value and the loss of all trees.

    It absorbs the blocks under it and those of other trees that are higher, highest first; the new
    fit is the blocks' values cut at its value.
    """
    loss = 0.0
    for i in range(trees):
        loss += s[i].loss_below if s[i].root == top else s[i].loss
    if weight > 0.0:
        for i in range(n):
            b = s[i].rank
            if stands(b, top, s):
                if s[b].value <= value:
                    break
                total = weight + s[b].weight
                share = s[b].weight / total
                step = s[b].value - value
                loss += weight * share * step * step
                value += share * step
                weight = total
    return value, loss


@lean
def fill_chains(
    sequence: IntArray, n: int, raised: int, cap: float, fit: FloatArray, s: Scratch
) -> None:
    """Write the values of the blocks, cut at ``cap``, to the weighted arms of chains.

    Invariant: the blocks done, from below, fill the sequence from position ``end`` on.
    """
    end = sequence.shape[0]
    for b in range(n):
        if stands(b, raised, s):
            value = min(s[b].value, cap)
            for j in range(s[b].position, end):
                fit[sequence[j]] = value
            end = s[b].position


@lean
def fill_forest(
    weights: FloatArray,
    sequence: IntArray,
    parent: IntArray,
    n: int,
    raised: int,
    cap: float,
    fit: FloatArray,
    s: Scratch,
) -> None:
    """Write the values of the blocks, cut at ``cap``, to the weighted arms of a forest.

    An arm is in the block of the nearest head at or above it.
    """
    for arm in range(sequence.shape[0]):
        s[arm].block = -1
    for b in range(n):
        if stands(b, raised, s):
            s[s[b].head].block = b
    for j in range(sequence.shape[0]):
        arm = sequence[j]
        if s[arm].block >= 0:
            s[arm].carried = s[s[arm].block].value
        elif parent[arm] >= 0:
            s[arm].carried = s[parent[arm]].carried
        if weights[arm] > 0.0:
            fit[arm] = min(s[arm].carried, cap)
