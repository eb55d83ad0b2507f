"""LatentOrders: one partial order per latent state, over the same arms.

In JSON, ``{"format": "lobandits.orders", "version": 1, "arms": ["a", "b", "c"], "states":
[[["b", "a"]]]}`` holds one state in which b stands above a, and c is free.
"""

import json
import os
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, IntArray, generator, read_only
from lobandits._files import read_json, write_text
from lobandits.errors import LobInputError
from lobandits.orders.arms import (
    Arm,
    arm_index,
    arm_indices,
    arm_names,
    as_list,
    as_states,
    close,
    counted,
    parse_matrix,
    parse_means,
    parse_position,
    parse_ranking,
    parse_relations,
    warn_of_repeats,
)
from lobandits.orders.partial import ClosedOrders, PartialOrder
from lobandits.orders.tables import chain_closure, keep_links, paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMAT = "lobandits.orders"
MODEL_FORMAT = "lobandits.model"  # such files hold orders under the field "orders"
VERSION = 1
FIELDS = ("format", "version", "arms", "states")


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
        self._close(np.stack(closed), names)
        warn_of_repeats(self.precedes, stacklevel=3)

    @classmethod
    def from_rankings(
        cls, rankings: Iterable[Iterable[Arm]], arms: Iterable[str] | None = None
    ) -> "LatentOrders":
        """Return total orders: rankings of all arms, best first, as numbers or names."""
        states = as_states(rankings, "rankings must be a list of rankings, one per state")
        where = "the ranking of state {}"
        message = f"{where} must be a list of arms, best first"
        rows = [as_list(row, message.format(s)) for s, row in enumerate(states)]
        names = arm_names(max(map(len, rows)) if arms is None else None, arms)
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
    def _stacked(cls, closed: list[BoolArray], arms: tuple[str, ...]) -> "LatentOrders":
        """Return the orders of checked closures (k, k)."""
        precedes = np.stack(closed)
        warn_of_repeats(precedes, stacklevel=4)
        return cls._of(precedes, arms)

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
        return cls._of(*_decode(data, source))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file that a person can read, and `load`."""
        dump = partial(json.dumps, ensure_ascii=False)
        *fields, (_, states) = self.to_dict().items()
        lines = [f'  "{field}": {dump(value)},\n' for field, value in fields]
        rows = ",\n".join(f"    {dump(state)}" for state in states)
        write_text(path, "{\n" + "".join(lines) + f'  "states": [\n{rows}\n  ]\n}}\n')

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the JSON file."""
        states = [[[self.arms[a] for a in path] for path in paths(s)] for s in self.precedes]
        return {"format": FORMAT, "version": VERSION, "arms": list(self.arms), "states": states}

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
        return LatentOrders._of(chain_closure(sequence, keep_links(noise, q)), self.arms)

    def only(self, arms: Iterable[Arm]) -> "LatentOrders":
        """Return the orders induced on some arms, in the order given.

        A state keeps its number, even if it becomes equal to another.
        """
        some = arm_indices(self.arms, arms)
        names = tuple(self.arms[a] for a in some)
        return LatentOrders._of(self.precedes[:, some][:, :, some], names)

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
        return PartialOrder._of(self.precedes[s], self.arms)

    def __iter__(self) -> Iterator[PartialOrder]:
        return (self[s] for s in range(self.n_states))

    def __str__(self) -> str:
        return "\n".join(f"state {s}: {state}" for s, state in enumerate(self))

    def __repr__(self) -> str:
        total = "total" if self.is_total else "partial"
        states, arms = counted(self.n_states, "state"), counted(self.n_arms, "arm")
        return f"LatentOrders({states}, {arms}, {total})"


def _decode(data: Any, source: str) -> tuple[BoolArray, tuple[str, ...]]:
    """Return closures and arm names, or say which field of ``source`` is wrong."""
    if isinstance(data, dict) and data.get("format") == MODEL_FORMAT:
        data, source = data.get("orders"), f"{source}: orders"
    if not isinstance(data, dict):
        raise LobInputError(f"{source}: expected an object with the fields {', '.join(FIELDS)}")
    _check_header(data, source)
    names = _list(data["arms"], f"{source}: arms")
    states = _list(data["states"], f"{source}: states")
    try:
        arms = arm_names(len(names), names)
    except LobInputError as error:
        raise LobInputError(f"{source}: {error}") from None
    closed = [_decode_state(row, arms, f"{source}: states[{s}]") for s, row in enumerate(states)]
    return np.stack(closed), arms


def _check_header(data: dict[str, Any], source: str) -> None:
    if data.get("format", FORMAT) != FORMAT:
        raise LobInputError(f"{source}: format is {data['format']!r}; expected {FORMAT!r}")
    missing = [field for field in FIELDS if field not in data]
    if missing:
        raise LobInputError(f"{source}: the field {missing[0]!r} is missing")
    version = data["version"]
    if type(version) is not int or version < 1:
        raise LobInputError(f"{source}: version is {version!r}; expected the number {VERSION}")
    if version > VERSION:
        raise LobInputError(
            f"{source}: version {version} is newer than {VERSION}, the newest that this lobandits "
            "reads; upgrade lobandits"
        )
    unknown = [field for field in data if field not in FIELDS]
    if unknown:
        raise LobInputError(f"{source}: unknown field {unknown[0]!r}; known: {', '.join(FIELDS)}")


def _decode_state(chains: Any, arms: tuple[str, ...], where: str) -> BoolArray:
    edges = np.zeros((len(arms), len(arms)), dtype=np.bool_)
    if not isinstance(chains, list):
        raise LobInputError(f"{where} must be a list of chains of arms, got {reprlib.repr(chains)}")
    for i, chain in enumerate(chains):
        at = f"{where}[{i}]"
        for j, name in enumerate(_list(chain, at)):
            if not isinstance(name, str):
                raise LobInputError(f"{at}[{j}] is {name!r}; arms are given by their names")
        path = [arm_index(arms, name, f"{at}[{j}]: ") for j, name in enumerate(chain)]
        if any(a == b for a, b in pairwise(path)):
            raise LobInputError(f"{at} puts an arm above itself: {' > '.join(chain)}")
        edges[path[:-1], path[1:]] = True
    return close(edges, arms, where)


def _list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise LobInputError(f"{where} must be a list that is not empty, got {reprlib.repr(value)}")
    return value
