"""Disjoint chains as two arrays, ``sequence`` and ``linked``, with any leading axes.

``sequence`` lists all arms, each chain together and best first; ``linked[..., j]`` says that
``sequence[..., j]`` is directly below ``sequence[..., j - 1]``.
"""

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray, FloatArray, fraction
from lobandits.orders.immutable import read_only
from lobandits.orders.tables import CHAINS, TOTAL, OrderTables

T = TypeVar("T", bound=np.generic)


def keep_links(noise: FloatArray, q: float) -> BoolArray:
    """Return ``linked`` (..., k) with a random ceil(q (k - 1)) links of each total order.

    Kept are the links with the least ``noise`` (..., k - 1), uniform and independent.
    """
    links = noise.shape[-1]
    count = math.ceil(round(fraction("q", q) * links, 9))
    linked = np.zeros((*noise.shape[:-1], links + 1), dtype=np.bool_)
    if count:
        most = np.partition(noise, count - 1, axis=-1)[..., count - 1, None]
        linked[..., 1:] = noise <= most
    return linked


def chain_closure(sequence: NDArray[np.uint32], linked: BoolArray) -> BoolArray:
    """Return the closure (..., k, k): above is what stands earlier in the same chain."""
    position = np.broadcast_to(np.arange(sequence.shape[-1], dtype=np.int32), sequence.shape)
    rank = by_arm(sequence, position)
    above: BoolArray = rank[..., :, None] < rank[..., None, :]
    if not linked[..., 1:].all():
        chain = by_arm(sequence, np.cumsum(~linked, axis=-1, dtype=np.int32))
        above &= chain[..., :, None] == chain[..., None, :]
    return above


def chain_tables(sequence: NDArray[np.uint32], linked: BoolArray) -> OrderTables:
    """Return the tables of users' chains (u, m, k): what `make_tables` gives, in O(u m k)."""
    if not linked[..., 1:].all():
        sequence, linked = _sorted_by_head(sequence, linked)
    upper = np.full(sequence.shape, -1, dtype=np.int32)
    np.copyto(upper[..., 1:], sequence[..., :-1], where=linked[..., 1:], casting="unsafe")
    parent = by_arm(sequence, upper)
    return OrderTables(
        sequence=read_only(sequence),
        linked=read_only(linked),
        parent=read_only(parent),
        kind=read_only(np.where(linked[..., 1:].all(axis=-1), TOTAL, CHAINS).astype(np.int8)),
        above=read_only(np.zeros((len(sequence), 0, 0, 0), dtype=np.bool_)),
        maximal=read_only(parent == -1),
    )


def by_arm(
    sequence: NDArray[np.uint32], values: "np.ndarray[Any, np.dtype[T]]"
) -> "np.ndarray[Any, np.dtype[T]]":
    """Return ``values`` (..., k), given by position in ``sequence``, by arm."""
    k = sequence.shape[-1]
    rows, arms = values.reshape(-1, k), sequence.reshape(-1, k)
    moved = np.empty_like(rows)
    every = np.arange(len(rows))
    for j in range(k):
        moved[every, arms[:, j]] = rows[:, j]
    return moved.reshape(sequence.shape)


def _sorted_by_head(
    sequence: NDArray[np.uint32], linked: BoolArray
) -> tuple[NDArray[np.uint32], BoolArray]:
    """Put the chains in the order of their best arms, so that equal orders have equal tables.

    One whole number per position holds, from its highest digit to its lowest, the chain's best
    arm, the position, the arm and the link; sorting these sorts all four.
    """
    k = sequence.shape[-1]
    head = sequence.astype(np.uint32 if 2 * k**3 < 2**32 else np.uint64)
    for j in range(1, k):
        np.copyto(head[..., j], head[..., j - 1], where=linked[..., j])
    code = ((head * k + np.arange(k, dtype=head.dtype)) * k + sequence) * 2 + linked
    code.sort(axis=-1)
    return (code // 2 % k).astype(np.uint32), code % 2 == 1
