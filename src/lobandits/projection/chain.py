"""Isotonic regression on a total order: pool adjacent violators."""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean
from lobandits.projection.scratch import Scratch


@lean
def pool_chain(
    values: FloatArray, weights: FloatArray, sequence: IntArray, s: Scratch
) -> tuple[int, float]:
    """Pool adjacent violators from the lowest arm up; return the number of blocks and the loss.

    Invariant: the blocks on the stack rise in value, and so does the block in hand above them.
    That block is not stored, and means are compared without a division: both would hold up the
    next comparison, which the processor can seldom foresee. O(k).
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
            total += sum_
            weight = both
            while n > 0:
                excess = s[n - 1].total * weight - total * s[n - 1].weight
                if excess <= 0.0:
                    break
                n -= 1
                both = weight + s[n].weight
                loss += excess * excess / (weight * s[n].weight * both)
                total += s[n].total
                weight = both
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
    """Put a block on the stack; ``start`` is the position of its uppermost arm."""
    s[n].total = total
    s[n].weight = weight
    s[n].position = start


@lean
def fill_chain(
    values: FloatArray, weights: FloatArray, sequence: IntArray, n: int, fit: FloatArray, s: Scratch
) -> None:
    """Write the means of the blocks; an arm that stands alone keeps its own to the last bit.

    Blocks rise in value also after rounding. Arms of weight zero get the value of a neighbour.
    Invariant of the last loop: b is the block at position j.
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
