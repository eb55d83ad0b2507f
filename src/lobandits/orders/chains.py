"""Disjoint chains of arms as two arrays, with any leading axes (users, states).

``sequence`` lists all arms, each chain together and best first; ``linked[..., j]`` says that
``sequence[..., j]`` is directly below ``sequence[..., j - 1]``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import BoolArray, FloatArray, fraction


def keep_links(noise: FloatArray, q: float) -> BoolArray:
    """Return ``linked`` (..., k) with ceil(q (k - 1)) links: the least ``noise`` (..., k - 1)."""
    links = noise.shape[-1]
    count = math.ceil(round(fraction("q", q) * links, 9))
    linked = np.zeros((*noise.shape[:-1], links + 1), dtype=np.bool_)
    if count:
        most = np.partition(noise, count - 1, axis=-1)[..., count - 1, None]
        linked[..., 1:] = noise <= most
    return linked


def chain_closure(sequence: NDArray[np.uint32], linked: BoolArray) -> BoolArray:
    """Return the closure (..., k, k): above is what stands earlier in the same chain."""
    position = np.arange(sequence.shape[-1], dtype=np.int32)
    rank = by_arm(sequence, np.broadcast_to(position, sequence.shape))
    above: BoolArray = rank[..., :, None] < rank[..., None, :]
    if not linked[..., 1:].all():
        chain = by_arm(sequence, np.cumsum(~linked, axis=-1, dtype=np.int32))
        above &= chain[..., :, None] == chain[..., None, :]
    return above


def by_arm(sequence: NDArray[np.uint32], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ``values`` (..., k), given by position in ``sequence``, by arm."""
    moved = np.empty(values.shape, values.dtype)
    np.put_along_axis(moved, sequence, values, axis=-1)
    return moved


def sorted_by_head(
    sequence: NDArray[np.uint32], linked: BoolArray
) -> tuple[NDArray[np.uint32], BoolArray]:
    """Put the chains in the order of their best arms, so that equal orders have equal tables.

    The digits of one whole number per position, highest first, are the chain's best arm, the
    position, the arm and the link: sorting it sorts all four.
    """
    k = sequence.shape[-1]
    head = sequence.astype(np.uint32 if 2 * k**3 < 2**32 else np.uint64)
    for j in range(1, k):
        np.copyto(head[..., j], head[..., j - 1], where=linked[..., j])
    code = ((head * k + np.arange(k, dtype=head.dtype)) * k + sequence) * 2 + linked
    code.sort(axis=-1)
    return (code // 2 % k).astype(np.uint32), code % 2 == 1
