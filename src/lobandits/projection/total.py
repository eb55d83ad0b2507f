"""Isotonic regression on a total order: pool adjacent violators, from the lowest arm up."""

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray
from lobandits.basics.kernel import kernel


@kernel
def pool_order(
    totals: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    limit: float,
    stack: FloatArray,
) -> tuple[int, float]:
    """Return the number of blocks and the loss of the nearest means; inf where above ``limit``.

    ``totals`` are weights times values. A column of ``stack``, (3, k + 1), is a block: its total,
    its weight, and where its uppermost arm stands in the sequence. Invariant: blocks 1 to n and the
    one in hand rise in value, and cost ``loss``, which never falls: beyond the limit there is
    nothing to learn. Block 0 is lower than any. Means are compared without a division. O(k).
    """
    n, total, weight, start, loss = 0, -1.0, 0.0, 0, 0.0
    stack[0, 0], stack[1, 0] = -1.0, 0.0
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = sequence[j]
        w = weights[arm]
        if w == 0.0:
            continue
        excess = total * w - totals[arm] * weight
        if excess <= 0.0:
            stack[0, n], stack[1, n], stack[2, n] = total, weight, start
            n += 1
            total, weight, start = totals[arm], w, j
            continue
        loss += excess * excess / (weight * w * (weight + w))
        total += totals[arm]
        weight += w
        start = j
        excess = stack[0, n - 1] * weight - total * stack[1, n - 1]
        while excess > 0.0:
            n -= 1
            below = stack[1, n]
            loss += excess * excess / (weight * below * (weight + below))
            total += stack[0, n]
            weight += below
            excess = stack[0, n - 1] * weight - total * stack[1, n - 1]
        if loss > limit:
            return n, np.inf
    stack[0, n], stack[1, n], stack[2, n] = total, weight, start
    return n, loss


@kernel
def order_loss(
    totals: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    limit: float,
    stack: FloatArray,
) -> float:
    """Return the loss of the nearest means that keep a total order; inf where above ``limit``."""
    return pool_order(totals, weights, sequence, limit, stack)[1]


@kernel
def fill_order(sequence: NDArray[np.uint32], n: int, fit: FloatArray, stack: FloatArray) -> None:
    """Write the means of blocks 1 to n. O(k).

    Invariant: the blocks done, from below, fill the sequence from position ``end`` on.
    """
    end = sequence.shape[0]
    for b in range(1, n + 1):
        mean = stack[0, b] / stack[1, b]
        for j in range(int(stack[2, b]), end):
            fit[sequence[j]] = mean
        end = int(stack[2, b])
