"""PartialOrder: what is known of the preferences in one latent state; and what all orders share."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import BoolArray, read_only
from lobandits.errors import LobInputError
from lobandits.orders.arms import (
    Arm,
    arm_names,
    as_list,
    close,
    parse_matrix,
    parse_means,
    parse_ranking,
    parse_relations,
)
from lobandits.orders.tables import OrderTables, make_tables, none_above, paths, reduction

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Orders:
    """Base of immutable values over named arms, equal where arms and ``_content`` are."""

    arms: tuple[str, ...]
    _content: tuple[NDArray[Any], ...]

    def _fill(self, content: tuple[NDArray[Any], ...], **fields: Any) -> None:
        """Set all fields, once; caches live beside them."""
        self.__dict__.update(fields, _content=content)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.arms == other.arms and all(map(np.array_equal, self._content, other._content))

    @cached_property
    def _hash(self) -> int:
        return hash((self.arms, self._content[0].shape, self._content[0].tobytes()))

    def __hash__(self) -> int:
        return self._hash


class ClosedOrders(Orders):
    """Transitive closures: of one order (k, k), or one for each state (m, k, k)."""

    precedes: BoolArray

    def _close(self, precedes: BoolArray, arms: tuple[str, ...]) -> None:
        fixed = read_only(precedes)
        self._fill((fixed,), arms=arms, precedes=fixed)

    @classmethod
    def _of(cls, precedes: BoolArray, arms: tuple[str, ...]) -> Self:
        """Return the orders of closures that are already checked."""
        orders = object.__new__(cls)
        orders._close(precedes, arms)
        return orders

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

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self)._of, (self.precedes, self.arms)


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
        self._close(close(edges, names, "the order"), names)

    @classmethod
    def from_ranking(
        cls, ranking: Iterable[Arm], arms: Iterable[str] | None = None
    ) -> "PartialOrder":
        """Return the total order of all arms, best first, given as numbers or names."""
        items = as_list(ranking, "ranking must be a list of arms, best first")
        names = arm_names(len(items) if arms is None else None, arms)
        return cls._of(parse_ranking(items, names, "the ranking"), names)

    @classmethod
    def from_relations(
        cls,
        n_arms: int,
        relations: Iterable[tuple[Arm, Arm]],
        arms: Iterable[str] | None = None,
    ) -> "PartialOrder":
        """Return the order that (better, worse) pairs of arms imply."""
        names = arm_names(n_arms, arms)
        return cls._of(parse_relations(relations, names, "the order"), names)

    @classmethod
    def from_means(cls, means: ArrayLike, arms: Iterable[str] | None = None) -> "PartialOrder":
        """Return the order of ``means`` (k,), the highest on top; tied arms are incomparable."""
        precedes = parse_means(means, ndim=1)
        return cls._of(precedes, arm_names(len(precedes), arms))

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
        from lobandits.orders.plot import plot_hasse

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
