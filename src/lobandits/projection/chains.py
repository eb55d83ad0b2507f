"""Isotonic regression on disjoint chains: pool adjacent violators.

Each chain is pooled from its lowest arm up. Then any one root, the best arm of its chain, can be
put on top of all, from what each was pooled to.
"""

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel
from lobandits.projection.scratch import Records


@kernel
def pool_chains(
    values: FloatArray,
    weights: FloatArray,
    sequence: NDArray[np.uint32],
    linked: BoolArray,
    blocks: Records,
    chains: Records,
) -> tuple[int, int]:
    """Pool adjacent violators chain after chain; return how many blocks and how many chains.

    Invariant: blocks from ``first`` on are those of the chain at hand, and rise in value. What a
    root absorbs is kept beside its block, so that any root can still be put on top of all
    chains. An arm alone keeps its own bits. O(k).
    """
    n = first = n_chains = 0
    loss = 0.0
    for j in range(sequence.shape[0] - 1, -1, -1):
        arm = sequence[j]
        weight = weights[arm]
        root = not linked[j]
        if root:
            chains[n_chains].root = arm
            chains[n_chains].loss_below = loss
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
            chains[n_chains].loss = loss
            loss = 0.0
            n_chains += 1
            for b in range(first, n):
                blocks[b].chain = arm
            first = n
    for b in range(n):
        block = blocks[b]
        mean = block.total / block.weight
        block.value = values[block.head] if block.weight == weights[block.head] else mean
    return n, n_chains


@kernel
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


@kernel
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
            start = blocks[b].start
            value = min(blocks[b].value, cap)
            for j in range(start, end):
                fit[sequence[j]] = value
            end = start


@kernel
def rank_blocks(n: int, blocks: Records, ranked: IntArray) -> None:
    """Sort the blocks by falling value into ``ranked`` (insertion sort: n is small). O(n^2)."""
    for b in range(n):
        i = b
        while i > 0 and blocks[ranked[i - 1]].value < blocks[b].value:
            ranked[i] = ranked[i - 1]
            i -= 1
        ranked[i] = b


@kernel
def stands(b: int, raised: int, blocks: Records) -> bool:
    """Tell whether block b is part of the fit, where ``raised`` was put on top of all chains.

    In the chain of ``raised`` these are the blocks under the root, in others those not taken.
    """
    block = blocks[b]
    return block.head != raised if block.chain == raised else not block.taken


@kernel
def raise_top(
    n: int,
    n_chains: int,
    top: int,
    value: float,
    weight: float,
    blocks: Records,
    ranked: IntArray,
    chains: Records,
) -> tuple[float, float]:
    """Put the root ``top`` above everything: return its value and the loss of all chains.

    It absorbs the blocks under it and those of other chains that are higher, highest first; the
    new fit is the blocks' values cut at its value. Invariant: ``value`` is the mean of the root
    and of all blocks ranked before the i-th that stand. O(n).
    """
    loss = 0.0
    for i in range(n_chains):
        chain = chains[i]
        loss += chain.loss_below if chain.root == top else chain.loss
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


@kernel
def total_loss(n_chains: int, chains: Records) -> float:
    """Return the loss of all chains, each for itself."""
    loss = 0.0
    for i in range(n_chains):
        loss += chains[i].loss
    return loss
