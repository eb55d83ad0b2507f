"""Isotonic regression on disjoint chains, by pooling each from below."""

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray, FloatArray
from lobandits._jit import part
from lobandits.projection.roots import stands
from lobandits.projection.scratch import Records


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
    n = first = n_trees = 0
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
