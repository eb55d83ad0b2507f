"""PartialOrder: what is known of the preferences in one latent state.

`ClosedOrders` is what one order and the orders of all states share.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_names
from lobandits.orders.closure import none_above, paths, reduction
from lobandits.orders.parse import (
    as_list,
    close,
    parse_matrix,
    parse_means,
    parse_ranking,
    parse_relations,
)
from lobandits.orders.tables import OrderTables, make_tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, init=False)
class ClosedOrders(Frozen):
    """Transitive closures: of one order (k, k), or one for each state (m, k, k)."""

    precedes: BoolArray
    arms: tuple[str, ...]

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    @cached_property
    def is_total(self) -> bool:
        """Whether every pair of arms is ordered, in every state."""
        k, size = self.n_arms, self.precedes.size
        return int(self.precedes.sum()) == size // k * (k - 1) // 2

    @cached_property
    def maximal(self) -> BoolArray:
        """Which arms have none above them: Max(s), bool (k,), or (m, k) for m states."""
        return none_above(self.precedes)

    @cached_property
    def tables(self) -> OrderTables:
        """The orders as kernels read them, with a leading axis of one user."""
        return make_tables(self.precedes.reshape(1, -1, self.n_arms, self.n_arms))


@dataclass(frozen=True, init=False)
class PartialOrder(ClosedOrders):
    """A strict partial order over k arms: immutable, transitively closed, without cycles.

    Parameters
    ----------
    precedes : bool (k, k)
        ``precedes[a, b]``: arm a stands above arm b; implied relations may be left out.
    arms : names, optional
        Unique strings; by default ``"0", "1", ...``.

    Examples
    --------
    >>> order = PartialOrder.from_relations(
    ...     4, [("drama", "comedy"), ("comedy", "horror")],
    ...     arms=["comedy", "drama", "horror", "western"],
    ... )
    >>> print(order)
    drama > comedy > horror; western free
    """

    def __init__(self, precedes: ArrayLike, arms: Iterable[str] | None = None) -> None:
        edges = parse_matrix(precedes, ndim=2)
        names = arm_names(len(edges), arms)
        self._set(precedes=close(edges, names, "the order"), arms=names)

    @classmethod
    def from_ranking(
        cls, ranking: Iterable[Arm], arms: Iterable[str] | None = None
    ) -> "PartialOrder":
        """Return the total order of all arms, best first, given as numbers or names."""
        items = as_list(ranking, "ranking must be a list of arms, best first")
        names = arm_names(len(items) if arms is None else None, arms)
        return cls._of(precedes=parse_ranking(items, names, "the ranking"), arms=names)

    @classmethod
    def from_relations(
        cls,
        n_arms: int,
        relations: Iterable[tuple[Arm, Arm]],
        arms: Iterable[str] | None = None,
    ) -> "PartialOrder":
        """Return the order that (better, worse) pairs of arms imply."""
        names = arm_names(n_arms, arms)
        return cls._of(precedes=parse_relations(relations, names, "the order"), arms=names)

    @classmethod
    def from_means(cls, means: ArrayLike, arms: Iterable[str] | None = None) -> "PartialOrder":
        """Return the order of ``means`` (k,), the highest on top; tied arms are incomparable."""
        precedes = parse_means(means, ndim=1)
        return cls._of(precedes=precedes, arms=arm_names(len(precedes), arms))

    @cached_property
    def relations(self) -> tuple[tuple[int, int], ...]:
        """The direct relations (better, worse): the transitive reduction."""
        return tuple((int(a), int(b)) for a, b in np.argwhere(reduction(self.precedes)))

    @property
    def ranking(self) -> tuple[int, ...]:
        """All arms of a total order, best first."""
        if not self.is_total:
            raise LobInputError(f"only a total order has a ranking, this one is: {self}")
        return tuple(self.precedes.sum(axis=0).argsort().tolist())

    def kendall_distance(self, other: "PartialOrder") -> int:
        """Return the number of pairs of arms that the two orders order oppositely."""
        if self.arms != other.arms:
            raise LobInputError(f"the orders have different arms: {self.arms} and {other.arms}")
        return int((self.precedes & other.precedes.T).sum())

    def plot(self, ax: "Axes | None" = None) -> "Figure":
        """Draw the Hasse diagram: a line leads from each arm down to those directly below it."""
        from lobandits.orders.hasse import plot_hasse

        return plot_hasse([self], [""], ax)

    def __str__(self) -> str:
        if self.is_total:
            return " > ".join(self.arms[a] for a in self.ranking)
        chains = paths(self.precedes)
        related = {arm for chain in chains for arm in chain}
        parts = [" > ".join(self.arms[a] for a in chain) for chain in chains]
        free = [name for a, name in enumerate(self.arms) if a not in related]
        return "; ".join(parts + ([f"{', '.join(free)} free"] if free else []))

    def __repr__(self) -> str:
        return f"PartialOrder({self})"
