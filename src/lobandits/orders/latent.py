"""LatentOrders: one partial order per latent state, over the same arms."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, IntArray, generator, read_only
from lobandits.basics.files import read_json, write_versioned
from lobandits.basics.words import counted
from lobandits.errors import LobInputError, LobWarning
from lobandits.orders.arms import Arm, arm_index, arm_indices, arm_names
from lobandits.orders.chains import chain_closure, keep_links
from lobandits.orders.closure import paths
from lobandits.orders.contexts import (
    arms_in_context,
    context_numbers,
    contexts_of,
    name_in_context,
    without_context,
)
from lobandits.orders.parse import (
    as_list,
    as_states,
    close,
    parse_matrix,
    parse_means,
    parse_position,
    parse_ranking,
    parse_relations,
    ranked_names,
)
from lobandits.orders.partial import ClosedOrders, PartialOrder
from lobandits.orders.storage import FORMAT, MODEL_FORMAT, VERSION, decode

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, init=False)
class LatentOrders(ClosedOrders):
    """The orders of m latent states over the same k arms: immutable and validated.

    States should be mutually incompatible; one that repeats another's order brings a warning.

    Parameters
    ----------
    precedes : bool (m, k, k)
        ``precedes[s, a, b]``: arm a stands above arm b in state s.
    arms : names, optional
        As in `PartialOrder`.

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([["c", "a", "b"], [0, 1, 2]], arms=["a", "b", "c"])
    >>> print(orders)
    state 0: c > a > b
    state 1: a > b > c
    """

    def __init__(self, precedes: ArrayLike, arms: Iterable[str] | None = None) -> None:
        edges = parse_matrix(precedes, ndim=3)
        names = arm_names(edges.shape[-1], arms)
        states = as_states(edges, "precedes must hold one matrix per state")
        closed = [close(state, names, f"state {s}") for s, state in enumerate(states)]
        self._set(precedes=np.stack(closed), arms=names)
        warn_of_repeats(self.precedes, stacklevel=3)

    @classmethod
    def from_rankings(
        cls, rankings: Iterable[Iterable[Arm]], arms: Iterable[str] | None = None
    ) -> "LatentOrders":
        """Return total orders: rankings of all arms, best first, as numbers or names.

        Without ``arms``, names in the rankings become the arms' names, sorted.
        """
        states = as_states(rankings, "rankings must be a list of rankings, one per state")
        where = "the ranking of state {}"
        message = f"{where} must be a list of arms, best first"
        rows = [as_list(row, message.format(s)) for s, row in enumerate(states)]
        names = ranked_names(rows) if arms is None else arm_names(None, arms)
        closed = [parse_ranking(row, names, where.format(s)) for s, row in enumerate(rows)]
        return cls._stacked(closed, names)

    @classmethod
    def from_relations(
        cls,
        n_arms: int,
        relations: Iterable[Iterable[tuple[Arm, Arm]]],
        arms: Iterable[str] | None = None,
    ) -> "LatentOrders":
        """Return the orders that each state's (better, worse) pairs of arms imply."""
        names = arm_names(n_arms, arms)
        rows = as_states(relations, "relations must be a list of lists of pairs, by state")
        closed = [parse_relations(row, names, f"state {s}") for s, row in enumerate(rows)]
        return cls._stacked(closed, names)

    @classmethod
    def from_means(cls, means: ArrayLike, arms: Iterable[str] | None = None) -> "LatentOrders":
        """Return the orders of ``means`` (m, k), the highest on top; ties are incomparable."""
        precedes = parse_means(means, ndim=2)
        closed = as_states(precedes, "means must have one row per state")
        return cls._stacked(closed, arm_names(precedes.shape[-1], arms))

    @classmethod
    def stack(cls, states: Iterable[PartialOrder]) -> "LatentOrders":
        """Return the orders whose state s is ``states[s]``; all must have the same arms."""
        rows = as_states(states, "states must be a list of PartialOrder")
        for s, row in enumerate(rows):
            if not isinstance(row, PartialOrder):
                raise LobInputError(f"state {s} must be a PartialOrder, got {row!r}")
            if row.arms != rows[0].arms:
                raise LobInputError(f"state {s} has the arms {row.arms}, state 0 {rows[0].arms}")
        return cls._stacked([row.precedes for row in rows], rows[0].arms)

    @classmethod
    def per_context(cls, orders: Mapping[str, "LatentOrders"]) -> "LatentOrders":
        """Return states with one order in each context, over arms named ``"context: arm"``.

        State s stands for the states s of all contexts; arms of different contexts are not
        compared.

        Examples
        --------
        >>> day = LatentOrders.from_rankings([["tea", "milk"], ["milk", "tea"]], ["tea", "milk"])
        >>> night = LatentOrders.from_rankings([["milk", "tea"], ["tea", "milk"]], ["tea", "milk"])
        >>> print(LatentOrders.per_context({"day": day, "night": night})[0])
        day: tea > day: milk; night: milk > night: tea
        """
        if not isinstance(orders, Mapping) or not orders:
            raise LobInputError(f"give the orders of each context, by its name, got {orders!r:.80}")
        for context, part in orders.items():
            if not isinstance(part, LatentOrders):
                raise LobInputError(f"context {context!r} must have LatentOrders, got {part!r:.80}")
        sizes = {context: part.n_states for context, part in orders.items()}
        if len(set(sizes.values())) > 1:
            raise LobInputError(
                f"the contexts have different numbers of states: {sizes}; state s of one must be "
                "state s of all"
            )
        names = [
            name_in_context(context, arm) for context, part in orders.items() for arm in part.arms
        ]
        precedes = np.zeros((max(sizes.values()), len(names), len(names)), np.bool_)
        start = 0
        for part in orders.values():
            stop = start + part.n_arms
            precedes[:, start:stop, start:stop] = part.precedes
            start = stop
        return cls._stacked(list(precedes), arm_names(None, names))

    @property
    def contexts(self) -> tuple[str, ...]:
        """Names of the contexts that arms are named after; none without contexts."""
        return tuple(contexts_of(self.arms))

    def in_context(self, context: str) -> "LatentOrders":
        """Return the orders of one context's arms, under their names in it."""
        part = self.only(arms_in_context(self.arms, context))
        names = tuple(without_context(name, context) for name in part.arms)
        return LatentOrders._of(precedes=part.precedes, arms=names)

    def within_contexts(self) -> "LatentOrders":
        """Return the orders without relations between arms of different contexts."""
        numbers = context_numbers(self.arms)
        if numbers is None:
            return self
        same = numbers[:, None] == numbers
        return LatentOrders._of(precedes=read_only(self.precedes & same), arms=self.arms)

    @classmethod
    def _stacked(cls, closed: list[BoolArray], arms: tuple[str, ...]) -> "LatentOrders":
        """Return the orders of checked closures (k, k)."""
        precedes = read_only(np.stack(closed))
        warn_of_repeats(precedes, stacklevel=4)
        return cls._of(precedes=precedes, arms=arms)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "LatentOrders":
        """Return the orders saved in a JSON file, or those of a model learned from logs.

        States of a model may differ in numbers only; else a repeated order brings a warning.
        """
        data = read_json(path)
        orders = cls.from_dict(data, source=str(path))
        if data.get("format") != MODEL_FORMAT:
            warn_of_repeats(orders.precedes, stacklevel=3)
        return orders

    @classmethod
    def from_dict(cls, data: Any, source: str = "orders") -> "LatentOrders":
        """Return the orders that `to_dict` described; errors open with ``source``."""
        precedes, arms = decode(data, source)
        return cls._of(precedes=precedes, arms=arms)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that a person can read, and `load`."""
        write_versioned(path, FORMAT, VERSION, self._states(), rows=["states"])

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        return {"format": FORMAT, "version": VERSION, **self._states()}

    def _states(self) -> dict[str, Any]:
        states = [[[self.arms[a] for a in path] for path in paths(s)] for s in self.precedes]
        return {"arms": list(self.arms), "states": states}

    @property
    def n_states(self) -> int:
        """Number of states, m."""
        return len(self.precedes)

    @cached_property
    def tops(self) -> BoolArray:
        """Which arms are on top of some state: A_0, bool (k,)."""
        return read_only(np.logical_or.reduce(self.maximal, axis=0))

    def reveal(self, q: float, rng: np.random.Generator | int) -> "LatentOrders":
        """Keep a random ceil(q (k - 1)) of each total order's consecutive relations.

        States that become equal are kept, without a warning.
        """
        if not self.is_total:
            s = next(s for s, state in enumerate(self) if not state.is_total)
            raise LobInputError(f"reveal needs total orders, but state {s} is partial: {self[s]}")
        noise = generator(rng).random((self.n_states, self.n_arms - 1))
        sequence = self.tables.sequence[0]
        revealed = chain_closure(sequence, keep_links(noise, q))
        return LatentOrders._of(precedes=revealed, arms=self.arms)

    def only(self, arms: Iterable[Arm]) -> "LatentOrders":
        """Return the orders induced on some arms, in the order given.

        A state keeps its number, even if it becomes equal to another.
        """
        some = arm_indices(self.arms, arms)
        names = tuple(self.arms[a] for a in some)
        return LatentOrders._of(precedes=self.precedes[:, some][:, :, some], arms=names)

    def with_arm(self, name: str, like: Arm | None = None) -> "LatentOrders":
        """Return the orders with one more arm, the last, of which no log knows.

        In every state it stands where ``like`` stands, neither above nor below it; without
        ``like``, nothing is known of it, and it is free.
        """
        if name in self.arms:
            raise LobInputError(f"there is an arm {name!r} already; give the new one another name")
        names = arm_names(self.n_arms + 1, (*self.arms, name))
        precedes = np.zeros((self.n_states, len(names), len(names)), dtype=np.bool_)
        precedes[:, :-1, :-1] = self.precedes
        if like is not None:
            a = arm_index(self.arms, like)
            precedes[:, -1, :-1] = self.precedes[:, a]
            precedes[:, :-1, -1] = self.precedes[:, :, a]
        return LatentOrders._of(precedes=precedes, arms=names)

    def kendall_distances(self) -> IntArray:
        """Return how many pairs of arms two states order oppositely: int (m, m)."""
        down = self.precedes.reshape(self.n_states, -1).astype(np.float64)
        up = self.precedes.transpose(0, 2, 1).reshape(self.n_states, -1).astype(np.float64)
        return (down @ up.T).astype(np.int64)

    def incompatible(self) -> BoolArray:
        """Return whether two states order some pair of arms oppositely: bool (m, m)."""
        opposed: BoolArray = self.kendall_distances() > 0
        return opposed

    def plot(
        self, states: Sequence[int] | None = None, kind: str = "auto", ax: "Axes | None" = None
    ) -> "Figure":
        """Draw Hasse diagrams of a few states, or a heat-map of the arms' ranks for many.

        ``kind`` is "hasse", "ranks" or "auto" (up to six states as Hasse diagrams); ``ax`` takes
        the heat-map, or the diagram of one state.
        """
        from lobandits.orders.plot import plot_orders

        return plot_orders(self, states, kind, ax)

    def __len__(self) -> int:
        return self.n_states

    def __getitem__(self, state: SupportsIndex) -> PartialOrder:
        s = parse_position(state, self.n_states, "state")
        return PartialOrder._of(precedes=self.precedes[s], arms=self.arms)

    def __iter__(self) -> Iterator[PartialOrder]:
        return (self[s] for s in range(self.n_states))

    def __str__(self) -> str:
        return "\n".join(f"state {s}: {state}" for s, state in enumerate(self))

    def __repr__(self) -> str:
        total = "total" if self.is_total else "partial"
        states, arms = counted(self.n_states, "state"), counted(self.n_arms, "arm")
        return f"LatentOrders({states}, {arms}, {total})"


def warn_of_repeats(precedes: BoolArray, stacklevel: int) -> None:
    """Warn of states (m, k, k) with the same order."""
    states: dict[bytes, list[int]] = {}
    for s, state in enumerate(precedes):
        states.setdefault(state.tobytes(), []).append(s)
    repeated = [" and ".join(map(str, same)) for same in states.values() if len(same) > 1]
    if repeated:
        warnings.warn(
            f"states {'; '.join(repeated)} have the same order; states are meant to be mutually "
            "incompatible, so keep one of each",
            LobWarning,
            stacklevel=stacklevel,
        )
