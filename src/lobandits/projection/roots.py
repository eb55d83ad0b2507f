"""One root of several chains or trees on top of all of them, from what each was pooled to."""

from lobandits._checks import IntArray
from lobandits._jit import part
from lobandits.projection.scratch import Records


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
