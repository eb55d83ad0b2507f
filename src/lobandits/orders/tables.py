"""Orders as arrays: relations as boolean matrices, chains, and the tables that kernels read.

In a matrix, ``edges[..., a, b]`` says that arm a stands above arm b. Chains are two arrays:
``sequence`` lists all arms, each chain together and best first; ``linked[..., j]`` says that
``sequence[..., j]`` is directly below ``sequence[..., j - 1]``. All but `find_cycle` and `paths`
take any leading axes (users, states).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray, FloatArray, fraction, read_only

TOTAL = 0  # one chain of all arms
CHAINS = 1  # every arm has at most one direct upper and one direct lower neighbour
FOREST = 2  # every arm has at most one direct upper neighbour
DAG = 3  # some arm has several


class OrderTables(NamedTuple):
    """Orders as C-contiguous read-only arrays; u = 1 where all users share them.

    Attributes
    ----------
    sequence : uint32 (u, m, k)
        A linear extension, best arm first: a ranking, or chain after chain by their best arms.
    linked : bool (u, m, k)
        By position: the links of `TOTAL` and `CHAINS`, all False for other kinds.
    parent : int32 (u, m, k)
        By arm: the arm directly above it, -1 if there is none, -2 if there are several.
    kind : int8 (u, m)
        `TOTAL`, `CHAINS`, `FOREST` or `DAG`.
    above : bool (u, m, k, k)
        The transitive closure if any state is a `DAG`; else (u, 0, 0, 0).
    maximal : bool (u, m, k)
        By arm: no arm is above it.
    """

    sequence: NDArray[np.uint32]
    linked: BoolArray
    parent: NDArray[np.int32]
    kind: NDArray[np.int8]
    above: BoolArray
    maximal: BoolArray

    def frozen(self) -> "OrderTables":
        """Return the tables read-only, without closures that nobody needs."""
        above = self.above if (self.kind == DAG).any() else np.empty((len(self.kind), 0, 0, 0), "?")
        return OrderTables._make(map(read_only, self._replace(above=above)))

    def take(self, users: "NDArray[np.integer] | slice") -> "OrderTables":
        """Return the tables of some users."""
        return OrderTables._make(table[users] for table in self).frozen()


def closure(edges: BoolArray) -> BoolArray:
    """Return the transitive closure: a above b if a path of edges leads from a to b.

    Invariant: after step i, all paths whose inner arms are among the first i are included.
    """
    above = edges.copy()
    for i in range(above.shape[-1]):
        above |= above[..., :, i, None] & above[..., None, i, :]
    return above


def reduction(above: BoolArray) -> BoolArray:
    """Return the edges of a closure that no longer path implies: a directly above b."""
    direct: BoolArray = above & ~(above @ above)
    return direct


def none_above(above: BoolArray) -> BoolArray:
    """Return which arms (..., k) have none above them in the closures (..., k, k)."""
    return read_only(~np.logical_or.reduce(above, axis=-2))


def find_cycle(edges: BoolArray) -> list[int] | None:
    """Return the arms of a shortest cycle, the first repeated at the end; None if acyclic."""
    on_cycle = np.flatnonzero(closure(edges).diagonal()).tolist()
    return min((_shortest_cycle_through(edges, arm) for arm in on_cycle), key=len, default=None)


def _shortest_cycle_through(edges: BoolArray, start: int) -> list[int]:
    """Breadth-first search from ``start`` until an edge leads back to it."""
    path_to = {start: [start]}
    queue = [start]
    for arm in queue:
        if edges[arm, start]:
            break
        for below in np.flatnonzero(edges[arm]).tolist():
            if below not in path_to:
                path_to[below] = [*path_to[arm], below]
                queue.append(below)
    return [*path_to[arm], start]


def paths(above: BoolArray) -> list[list[int]]:
    """Return downward paths, best arm first, that use every direct relation exactly once."""
    below = [np.flatnonzero(row).tolist() for row in reduction(above)]
    found = []
    for start in np.argsort(above.sum(axis=0), kind="stable").tolist():
        while below[start]:
            path = [start]
            while below[path[-1]]:
                path.append(below[path[-1]].pop(0))
            found.append(path)
    return found


def make_tables(above: BoolArray) -> OrderTables:
    """Return the tables of the transitive closures ``above`` (u, m, k, k)."""
    direct = reduction(above)
    uppers = direct.sum(axis=-2)
    forest = (uppers <= 1).all(axis=-1)
    chains = forest & (direct.sum(axis=-1) <= 1).all(axis=-1)
    parent = np.where(uppers == 1, direct.argmax(axis=-2), np.where(uppers == 0, -1, -2))
    maximal = none_above(above)
    k = above.shape[-1]
    head = np.where(maximal, np.arange(k), (above & maximal[..., None]).argmax(axis=-2))
    height = above.sum(axis=-2)
    sequence = (np.where(chains[..., None], head * k, 0) + height).argsort(axis=-1, kind="stable")
    total = chains & (maximal.sum(axis=-1) == 1)
    return OrderTables(
        sequence=sequence.astype(np.uint32),
        linked=chains[..., None] & ~np.take_along_axis(maximal, sequence, axis=-1),
        parent=parent.astype(np.int32),
        kind=np.select([total, chains, forest], [TOTAL, CHAINS, FOREST], DAG).astype(np.int8),
        above=above,
        maximal=maximal,
    ).frozen()


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


def chain_tables(sequence: NDArray[np.uint32], linked: BoolArray) -> OrderTables:
    """Return the tables of users' chains (u, m, k): what `make_tables` gives, in O(u m k)."""
    if not linked[..., 1:].all():
        sequence, linked = _sorted_by_head(sequence, linked)
    upper = np.full(sequence.shape, -1, dtype=np.int32)
    np.copyto(upper[..., 1:], sequence[..., :-1], where=linked[..., 1:], casting="unsafe")
    parent = by_arm(sequence, upper)
    return OrderTables(
        sequence=sequence,
        linked=linked,
        parent=parent,
        kind=np.where(linked[..., 1:].all(axis=-1), TOTAL, CHAINS).astype(np.int8),
        above=np.empty((len(sequence), 0, 0, 0), np.bool_),
        maximal=parent == -1,
    ).frozen()


def by_arm(sequence: NDArray[np.uint32], values: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return ``values`` (..., k), given by position in ``sequence``, by arm."""
    moved = np.empty(values.shape, values.dtype)
    np.put_along_axis(moved, sequence, values, axis=-1)
    return moved


def _sorted_by_head(
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
