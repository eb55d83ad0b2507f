"""Isotonic regression on a total order: pool adjacent violators.

Indices are unsigned, so that no code is needed for negative ones: that saves a tenth.
"""

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray
from lobandits.basics.kernel import part
from lobandits.projection.scratch import Records

ZERO, ONE = np.uint64(0), np.uint64(1)


@part
def pool_chain(
    values: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    blocks: Records,
    heads: NDArray[np.uint64],
) -> tuple[np.int64, float]:
    """Pool from the lowest arm up; return the number of blocks, from 1 on, and the loss.

    Invariant: blocks 1, 2, ... and then the one in hand rise in value; ``heads`` marks where
    the stored ones start. Block 0 is lower than any. O(k).

    The next arm joins the block in hand, or that is stored and the arm is taken in hand: a toss
    of a coin that processors cannot foresee, so it is a selection and not a branch. One test is
    written in three ways, used once each, because compilers branch on a test used twice. The
    loop, for blocks below, is entered by one arm in ten.
    """
    n = start = ZERO
    total, weight, loss = -np.inf, 1.0, 0.0
    for i in range(sequence.shape[0] - 1, -1, -1):
        j = np.uint64(i)
        arm = sequence[j]
        w = weights[arm]
        if w == 0.0:
            heads[j] = ZERO
            continue
        sum_ = w * values[arm]
        held, coming = total * w, sum_ * weight  # means are compared without a division
        excess = max(held - coming, 0.0)
        both = weight + w
        joined = total + sum_
        loss += excess * excess / (weight * w * both)
        store(n, total, weight, start, blocks)
        total = joined if held - coming > 0.0 else sum_
        weight = both if held > coming else w
        apart = np.uint64(excess == 0.0)
        heads[start] = apart
        n += apart
        start = j
        below = blocks[n - ONE]
        excess = below.total * weight - total * below.weight
        while excess > 0.0:
            both = weight + below.weight
            loss += excess * excess / (weight * below.weight * both)
            total += below.total
            weight = both
            heads[below.start] = ZERO
            n -= ONE
            below = blocks[n - ONE]
            excess = below.total * weight - total * below.weight
    store(n, total, weight, start, blocks)
    heads[start] = ZERO
    return np.int64(n), loss


@part
def store(n: np.uint64, total: float, weight: float, start: np.uint64, blocks: Records) -> None:
    """Write block n."""
    block = blocks[n]
    block.total = total
    block.weight = weight
    block.start = start


@part
def fill_chain(
    values: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    n: np.int64,
    fit: FloatArray,
    blocks: Records,
    heads: NDArray[np.uint64],
) -> None:
    """Write the means of the blocks; an arm alone keeps its own bits. O(k).

    Blocks rise in value also after rounding. Invariant of the last loop: ``at`` is the block at j.
    """
    highest = -np.inf
    for b in range(1, n + 1):
        block = blocks[b]
        head = sequence[block.start]
        mean = block.total / block.weight
        own = values[head]
        highest = max(highest, own if block.weight == weights[head] else mean)
        block.value = highest
    if n > 0:
        at = np.uint64(n)
        for j in range(sequence.shape[0]):
            at -= heads[j]
            fit[sequence[j]] = blocks[at].value
