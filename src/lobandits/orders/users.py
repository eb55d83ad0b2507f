"""UserOrders: every user's own set of latent orders, as arrays."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.basics.checks import BoolArray, generator, read_only
from lobandits.basics.frozen import Frozen
from lobandits.basics.words import counted
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_indices, arm_names
from lobandits.orders.chains import keep_links
from lobandits.orders.latent import LatentOrders
from lobandits.orders.parse import as_array, as_list, parse_position, parse_positions
from lobandits.orders.tables import OrderTables, chain_tables, make_tables


@dataclass(frozen=True, init=False)
class UserOrders(Frozen):
    """The orders of n users, each with m latent states over the same k arms.

    Parameters
    ----------
    sequence : whole numbers (n, m, k)
        All arms of each state, the best first; with ``linked``, chain after chain.
    linked : bool (n, m, k), optional
        ``linked[u, s, j]``: ``sequence[u, s, j]`` is directly below ``sequence[u, s, j - 1]``;
        False for j = 0. By default all other arms are linked: total orders.
    arms : names, optional
        As in `PartialOrder`.

    Examples
    --------
    >>> orders = UserOrders([[[2, 0, 1], [0, 1, 2]], [[1, 0, 2], [2, 1, 0]]])
    >>> print(orders[1])
    state 0: 1 > 0 > 2
    state 1: 2 > 1 > 0
    """

    tables: OrderTables
    arms: tuple[str, ...]

    def __init__(
        self,
        sequence: ArrayLike,
        linked: ArrayLike | None = None,
        arms: Iterable[str] | None = None,
    ) -> None:
        checked = _check_sequence(sequence)
        names = arm_names(checked.shape[-1], arms)
        self._set(tables=chain_tables(checked, _check_linked(linked, checked.shape)), arms=names)

    @classmethod
    def from_rankings(cls, rankings: ArrayLike, arms: Iterable[str] | None = None) -> "UserOrders":
        """Return total orders from rankings (n, m, k), best arm first."""
        return cls(rankings, arms=arms)

    @classmethod
    def stack(cls, users: Iterable[LatentOrders]) -> "UserOrders":
        """Return the orders whose user u has ``users[u]``; orders of any kind."""
        rows = as_list(users, "users must be a list of LatentOrders")
        if not rows:
            raise LobInputError("no users were given; give at least one")
        for u, row in enumerate(rows):
            if not isinstance(row, LatentOrders):
                raise LobInputError(f"user {u} must have LatentOrders, got {row!r}")
            if row.arms != rows[0].arms or row.n_states != rows[0].n_states:
                raise LobInputError(
                    f"user {u} has {row!r} over {', '.join(row.arms)}, unlike user 0: {rows[0]!r} "
                    f"over {', '.join(rows[0].arms)}; all users need the same states and arms"
                )
        tables = make_tables(np.stack([row.precedes for row in rows]))
        return cls._of(tables=tables, arms=rows[0].arms)

    @property
    def n_arms(self) -> int:
        """Number of arms, k."""
        return len(self.arms)

    @property
    def n_users(self) -> int:
        """Number of users, n."""
        return len(self.tables.sequence)

    @property
    def n_states(self) -> int:
        """Number of states of each user, m."""
        return int(self.tables.sequence.shape[1])

    @cached_property
    def is_total(self) -> bool:
        """Whether every state of every user orders every pair of arms."""
        return bool(self.tables.linked[..., 1:].all())

    @property
    def maximal(self) -> BoolArray:
        """Which arms have none above them: bool (n, m, k)."""
        return self.tables.maximal

    @cached_property
    def tops(self) -> BoolArray:
        """Which arms are on top of some state of the user: A_0, bool (n, k)."""
        return read_only(np.logical_or.reduce(self.maximal, axis=1))

    @cached_property
    def precedes(self) -> BoolArray:
        """The transitive closures, a above b: bool (n, m, k, k)."""
        return read_only(self.tables.closures())

    def take(self, users: ArrayLike | slice) -> "UserOrders":
        """Return the orders of some users, by numbers (repeated ones too) or a slice."""
        if not isinstance(users, slice):
            wanted = "a list of whole numbers or a slice"
            users = parse_positions(users, self.n_users, "user", wanted)
        return UserOrders._of(tables=self.tables.take(users), arms=self.arms)

    def only(self, arms: Iterable[Arm]) -> "UserOrders":
        """Return the orders induced on some arms, as `LatentOrders.only`."""
        some = arm_indices(self.arms, arms)
        names = tuple(self.arms[a] for a in some)
        tables = make_tables(self.precedes[:, :, some][..., some])
        return UserOrders._of(tables=tables, arms=names)

    def reveal(self, q: float, rng: np.random.Generator | int) -> "UserOrders":
        """Draw as `LatentOrders.reveal` does, for one user after the other."""
        if not self.is_total:
            u, s = np.argwhere(~self.tables.linked[..., 1:].all(axis=-1))[0].tolist()
            raise LobInputError(
                f"reveal needs total orders, but user {u}'s state {s} is partial: {self[u][s]}"
            )
        noise = generator(rng).random((self.n_users, self.n_states, self.n_arms - 1))
        tables = chain_tables(self.tables.sequence, keep_links(noise, q))
        return UserOrders._of(tables=tables, arms=self.arms)

    def __len__(self) -> int:
        return self.n_users

    def __getitem__(self, user: SupportsIndex) -> LatentOrders:
        u = parse_position(user, self.n_users, "user")
        precedes = self.tables.take(slice(u, u + 1)).closures()[0]
        return LatentOrders._of(precedes=precedes, arms=self.arms)

    def __iter__(self) -> Iterator[LatentOrders]:
        return (self[u] for u in range(self.n_users))

    def __repr__(self) -> str:
        counts = (self.n_users, "user"), (self.n_states, "state"), (self.n_arms, "arm")
        total = "total" if self.is_total else "partial"
        return f"UserOrders({', '.join(counted(*count) for count in counts)}, {total})"


def _check_sequence(sequence: ArrayLike) -> NDArray[np.uint32]:
    """Return a copy as uint32 (n, m, k), or name the first state that ranks no permutation."""
    array = as_array("sequence", sequence)
    if array.ndim != 3 or 0 in array.shape:
        raise LobInputError(
            f"sequence must have the shape (n_users, n_states, n_arms), none of them zero, "
            f"got {array.shape}"
        )
    if array.dtype.kind not in "iu":
        raise LobInputError(f"sequence must hold whole numbers (arms), got dtype {array.dtype}")
    ranks = np.arange(array.shape[-1])
    wrong = (np.sort(array, axis=-1) != ranks).any(axis=-1)
    if wrong.any():
        u, s = np.argwhere(wrong)[0].tolist()
        raise LobInputError(
            f"sequence[{u}, {s}] is {array[u, s].tolist()}, no permutation of the arms 0 to "
            f"{ranks[-1]}; list every arm exactly once"
        )
    return array.astype(np.uint32)


def _check_linked(linked: ArrayLike | None, shape: tuple[int, ...]) -> BoolArray:
    """Return a copy, by default with every arm linked to the one before."""
    if linked is None:
        return np.broadcast_to(np.arange(shape[-1]) > 0, shape).copy()
    array = as_array("linked", linked).copy()
    if array.dtype != np.bool_ or array.shape != shape:
        raise LobInputError(
            f"linked must be boolean and of sequence's shape {shape}, got dtype {array.dtype} "
            f"and shape {array.shape}"
        )
    if array[..., 0].any():
        u, s = np.argwhere(array[..., 0])[0].tolist()
        raise LobInputError(f"linked[{u}, {s}, 0] is True, but no arm stands before the first")
    return array
