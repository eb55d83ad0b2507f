"""Orders as the flat arrays that compiled kernels read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray
from lobandits.orders.graph import reduction
from lobandits.orders.immutable import read_only

TOTAL = 0
"""One chain of all arms."""
CHAINS = 1
"""Several chains: every arm has at most one direct upper and one direct lower neighbour."""
FOREST = 2
"""Every arm has at most one direct upper neighbour."""
DAG = 3
"""Some arm has several direct upper neighbours."""


class OrderTables(NamedTuple):
    """Orders as C-contiguous read-only arrays; u = 1 where all users share them.

    Attributes
    ----------
    sequence : uint32 (u, m, k)
        A linear extension, best arm first. The arms of a chain stand together, and chains
        follow each other by the number of their best arm; a total order is its ranking.
    linked : bool (u, m, k)
        By position, for `TOTAL` and `CHAINS`: ``sequence[j]`` is directly below
        ``sequence[j - 1]``. All False for other kinds.
    parent : int32 (u, m, k)
        By arm: the arm directly above it, -1 if there is none, -2 if there are several.
    kind : int8 (u, m)
        `TOTAL`, `CHAINS`, `FOREST` or `DAG`.
    above : bool (u, m, k, k)
        The transitive closure if any state is a `DAG`; else of shape (u, 0, 0, 0).
    maximal : bool (u, m, k)
        By arm: no arm is above it.
    """

    sequence: NDArray[np.uint32]
    linked: BoolArray
    parent: NDArray[np.int32]
    kind: NDArray[np.int8]
    above: BoolArray
    maximal: BoolArray

    def take(self, users: "NDArray[np.integer] | slice") -> "OrderTables":
        """Return the tables of some users."""
        kind = self.kind[users]
        above = self.above[users]
        return OrderTables(
            sequence=read_only(self.sequence[users]),
            linked=read_only(self.linked[users]),
            parent=read_only(self.parent[users]),
            kind=read_only(kind),
            above=read_only(above if (kind == DAG).any() else above[:, :0, :0, :0]),
            maximal=read_only(self.maximal[users]),
        )


def none_above(above: BoolArray) -> BoolArray:
    """Return which arms (..., k) have none above them in the closures (..., k, k)."""
    return read_only(~np.logical_or.reduce(above, axis=-2))


def make_tables(above: BoolArray) -> OrderTables:
    """Return the tables of the transitive closures ``above`` (u, m, k, k)."""
    n_users, _, k, _ = above.shape
    direct = reduction(above)
    uppers = direct.sum(axis=-2)
    forest = (uppers <= 1).all(axis=-1)
    chains = forest & (direct.sum(axis=-1) <= 1).all(axis=-1)
    parent = np.where(uppers == 1, direct.argmax(axis=-2), np.where(uppers == 0, -1, -2))
    height = above.sum(axis=-2)
    maximal = none_above(above)
    head = np.where(maximal, np.arange(k), (above & maximal[..., None]).argmax(axis=-2))
    key = np.where(chains[..., None], head * k, 0) + height
    sequence = key.argsort(axis=-1, kind="stable")
    linked = chains[..., None] & ~np.take_along_axis(maximal, sequence, axis=-1)
    total = chains & (maximal.sum(axis=-1) == 1)
    kind = np.select([total, chains, forest], [TOTAL, CHAINS, FOREST], DAG)
    return OrderTables(
        sequence=read_only(sequence.astype(np.uint32)),
        linked=read_only(linked),
        parent=read_only(parent.astype(np.int32)),
        kind=read_only(kind.astype(np.int8)),
        above=read_only(above if (kind == DAG).any() else np.zeros((n_users, 0, 0, 0), np.bool_)),
        maximal=maximal,
    )
