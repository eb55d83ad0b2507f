"""Isotonic regression on disjoint chains, and on forests: each tree is pooled from below.

Then any one root can be put on top of all trees, from what each was pooled to.
"""

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import ZERO, lean, part
from lobandits.projection.scratch import Records

GONE, KEPT = -3, -2  # what an arm's block hangs from: it heads none, or a root has absorbed it


@part
def pool_chains(
    values: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    linked: BoolArray,
    blocks: Records,
    trees: Records,
) -> tuple[int, int]:
    """Pool adjacent violators chain after chain; return how many blocks and how many chains.

    Invariant: blocks from ``first`` on are those of the chain at hand, and rise in value. What a
    root absorbs is kept beside its block, so that any root can still be put on top of all
    chains. An arm alone keeps its own bits. O(k).
    """
    n = first = n_trees = ZERO
    loss = 0.0
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = sequence[j]
        weight = weights[arm]
        root = not linked[j]
        if root:
            trees[n_trees].root = arm
            trees[n_trees].loss_below = loss
        if weight > 0.0:
            i, total, weight, added = absorb_below(values[arm] * weight, weight, first, n, blocks)
            loss += added
            if root:
                for b in range(i, n):
                    blocks[b].taken = True
            else:
                n = i
            block = blocks[n]
            block.total = total
            block.weight = weight
            block.head = arm
            block.start = j
            block.taken = False
            n += 1
        if root:
            trees[n_trees].loss = loss
            loss = 0.0
            n_trees += 1
            for b in range(first, n):
                blocks[b].tree = arm
            first = n
    for b in range(n):
        block = blocks[b]
        mean = block.total / block.weight
        block.value = values[block.head] if block.weight == weights[block.head] else mean
    return n, n_trees


@part
def absorb_below(
    total: float, weight: float, first: int, n: int, blocks: Records
) -> tuple[int, float, float, float]:
    """Let an arm absorb the blocks before n, down to ``first``, that exceed it.

    Return the lowest block absorbed, the sum of w y and the weight of all, and the loss.
    """
    loss = 0.0
    while n > first:
        below = blocks[n - 1]
        excess = below.total * weight - total * below.weight
        if excess <= 0.0:
            break
        both = weight + below.weight
        loss += excess * excess / (weight * below.weight * both)
        total += below.total
        weight = both
        n -= 1
    return n, total, weight, loss


@part
def fill_chains(
    sequence: NDArray[np.uint32],
    n: int,
    raised: int,
    cap: float,
    fit: FloatArray,
    blocks: Records,
) -> None:
    """Write the values of the blocks, cut at ``cap``, to the weighted arms. O(k).

    Invariant: the blocks done, from below, fill the sequence from position ``end`` on.
    """
    end = sequence.shape[0]
    for b in range(n):
        if stands(b, raised, blocks):
            start = np.int64(blocks[b].start)
            value = min(blocks[b].value, cap)
            for j in range(start, end):
                fit[sequence[j]] = value
            end = start


@lean
def pool_forest(
    values: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    parent: NDArray[np.int32],
    blocks: Records,
    trees: Records,
    arms: Records,
) -> tuple[int, int]:
    """Pool from the leaves up; return how many blocks and how many trees.

    Invariant: under every arm done, no block is higher than the one it hangs from. O(k^2).
    """
    n_trees = number_trees(sequence, parent, trees, arms)
    for arm in range(sequence.shape[0]):
        arms[arm].upper = GONE
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = int(sequence[j])
        if weights[arm] > 0.0:
            absorb_children(arm, values[arm], weights[arm], parent[arm], trees, arms)
        else:
            tree = trees[arms[arm].tree]
            hang(arm, parent[arm], arms)
            tree.loss = tree.loss_below
    return list_blocks(blocks, trees, arms), n_trees


@part
def number_trees(
    sequence: NDArray[np.uint32], parent: NDArray[np.int32], trees: Records, arms: Records
) -> int:
    """Start all trees, and write the number of each arm's; return how many there are. O(k)."""
    n_trees = 0
    for j in range(sequence.shape[0]):
        arm = sequence[j]
        if parent[arm] < 0:
            trees[n_trees].root = arm
            trees[n_trees].loss_below = 0.0
            trees[n_trees].loss = 0.0
            arms[arm].tree = n_trees
            n_trees += 1
        else:
            arms[arm].tree = arms[parent[arm]].tree
    return n_trees


@part
def absorb_children(
    arm: int, value: float, weight: float, parent: int, trees: Records, arms: Records
) -> None:
    """Let an arm absorb the highest block under it while that one is higher, and hang it up.

    What a root absorbs is kept, so that any root can still be put on top of all trees.
    """
    node = arms[arm]
    loss = 0.0
    child = highest_under(arm, value, arms)
    while child >= 0:
        block = arms[child]
        total = block.weight + weight
        share = block.weight / total
        step = block.value - value
        loss += weight * share * step * step
        value += share * step
        weight = total
        block.taken = True
        block.upper = KEPT if parent < 0 else GONE
        hang(child, arm, arms)
        child = highest_under(arm, value, arms)
    node.value = value
    node.weight = weight
    node.taken = False
    node.upper = parent
    tree = trees[node.tree]
    tree.loss = tree.loss_below + loss
    if parent >= 0:
        tree.loss_below += loss


@part
def hang(arm: int, upper: int, arms: Records) -> None:
    """Hang from ``upper`` all blocks that hang from ``arm``. O(k)."""
    for b in range(arms.shape[0]):
        if arms[b].upper == arm:
            arms[b].upper = upper


@part
def highest_under(arm: int, value: float, arms: Records) -> int:
    """Return the head of the highest block that hangs from ``arm`` and exceeds ``value``, or -1.

    O(k).
    """
    found = -1
    for b in range(arms.shape[0]):
        if arms[b].upper == arm and arms[b].value > value:
            found = b
            value = arms[b].value
    return found


@part
def list_blocks(blocks: Records, trees: Records, arms: Records) -> int:
    """List the blocks that are left, by their heads; return how many. O(k)."""
    n = 0
    for arm in range(arms.shape[0]):
        node = arms[arm]
        if node.upper != GONE:
            block = blocks[n]
            block.value = node.value
            block.weight = node.weight
            block.taken = node.taken
            block.head = arm
            block.tree = trees[node.tree].root
            n += 1
    return n


@lean
def fill_forest(
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    parent: NDArray[np.int32],
    n: int,
    raised: int,
    cap: float,
    fit: FloatArray,
    blocks: Records,
    arms: Records,
) -> None:
    """Write the values of the blocks, cut at ``cap``, to the weighted arms. O(k).

    Invariant: an arm done knows its block, that of the nearest head at or above it.
    """
    for arm in range(sequence.shape[0]):
        arms[arm].block = -1
    for b in range(n):
        if stands(b, raised, blocks):
            arms[blocks[b].head].block = b
    for j in range(sequence.shape[0]):
        arm = sequence[j]
        node = arms[arm]
        if node.block >= 0:
            node.fit = blocks[node.block].value
        elif parent[arm] >= 0:
            node.fit = arms[parent[arm]].fit
        if weights[arm] > 0.0:
            fit[arm] = min(node.fit, cap)


@part
def rank_blocks(n: int, blocks: Records, ranked: IntArray) -> None:
    """Sort the blocks by falling value into ``ranked`` (insertion sort: n is small). O(n^2)."""
    for b in range(n):
        i = b
        while i > 0 and blocks[ranked[i - 1]].value < blocks[b].value:
            ranked[i] = ranked[i - 1]
            i -= 1
        ranked[i] = b


@part
def stands(b: int, raised: int, blocks: Records) -> bool:
    """Tell whether block b is part of the fit, where ``raised`` was put on top of all trees.

    In the tree of ``raised`` these are the blocks under the root, in others those not taken.
    """
    block = blocks[b]
    return block.head != raised if block.tree == raised else not block.taken


@part
def raise_top(
    n: int,
    n_trees: int,
    top: int,
    value: float,
    weight: float,
    blocks: Records,
    ranked: IntArray,
    trees: Records,
) -> tuple[float, float]:
    """Put the root ``top`` above everything: return its value and the loss of all trees.

    It absorbs the blocks under it and those of other trees that are higher, highest first; the
    new fit is the blocks' values cut at its value. Invariant: ``value`` is the mean of the root
    and of all blocks ranked before the i-th that stand. O(n).
    """
    loss = 0.0
    for i in range(n_trees):
        tree = trees[i]
        loss += tree.loss_below if tree.root == top else tree.loss
    if weight > 0.0:
        for i in range(n):
            b = ranked[i]
            if stands(b, top, blocks):
                block = blocks[b]
                if block.value <= value:
                    break
                total = weight + block.weight
                share = block.weight / total
                step = block.value - value
                loss += weight * share * step * step
                value += share * step
                weight = total
    return value, loss


@part
def total_loss(n_trees: int, trees: Records) -> float:
    """Return the loss of all trees, each for itself."""
    loss = 0.0
    for i in range(n_trees):
        loss += trees[i].loss
    return loss
