"""OrderTables: orders of all states as the arrays that kernels read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import BoolArray, read_only
from lobandits.orders.chains import by_arm, chain_closure, sorted_by_head
from lobandits.orders.closure import none_above, reduction

TOTAL = 0  # one chain of all arms
CHAINS = 1  # every arm has at most one direct upper and one direct lower neighbour
DAG = 2  # some arm has several direct neighbours on one side


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
        `TOTAL`, `CHAINS` or `DAG`.
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

    def closures(self) -> BoolArray:
        """Return the transitive closures (u, m, k, k)."""
        if self.above.size:
            return self.above
        return chain_closure(self.sequence, self.linked)

    def take(self, users: "NDArray[np.integer] | slice") -> "OrderTables":
        """Return the tables of some users."""
        return OrderTables._make(table[users] for table in self).frozen()


def make_tables(above: BoolArray) -> OrderTables:
    """Return the tables of the transitive closures ``above`` (u, m, k, k)."""
    direct = reduction(above)
    uppers = direct.sum(axis=-2)
    chains = (uppers <= 1).all(axis=-1) & (direct.sum(axis=-1) <= 1).all(axis=-1)
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
        kind=np.select([total, chains], [TOTAL, CHAINS], DAG).astype(np.int8),
        above=above,
        maximal=maximal,
    ).frozen()


def chain_tables(sequence: NDArray[np.uint32], linked: BoolArray) -> OrderTables:
    """Return the tables of users' chains (u, m, k): what `make_tables` gives, in O(u m k)."""
    if not linked[..., 1:].all():
        sequence, linked = sorted_by_head(sequence, linked)
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
