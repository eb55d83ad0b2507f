"""Isotonic regression on a forest, by pooling each tree from its leaves up."""

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import FloatArray
from lobandits._jit import lean, part
from lobandits.projection.roots import stands
from lobandits.projection.scratch import Records

GONE, KEPT = -3, -2  # what an arm's block hangs from: it heads none, or a root has absorbed it


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
