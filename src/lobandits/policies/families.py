"""What policies share: known orders or means of the states, and choices from one uniform number."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, IntArray, finite_array, positive, read_only
from lobandits._jit import kernel, lean
from lobandits.errors import LobInputError
from lobandits.orders import DAG, LatentOrders, OrderTables, UserOrders
from lobandits.orders.arms import Arm, arm_indices, arm_names
from lobandits.policies.base import Policy, Value
from lobandits.policies.state import S, State, user_indices

LEAST_SPREAD, LARGEST_SPREAD = 1e-50, 1e50
FNV = 0x100000001B3
NO_ODDS = np.empty((0, 0))
CUT = 1e-12  # lighter weights, relative to the heaviest, become 0


def checked_spread(name: str, value: float) -> float:
    """Return a standard deviation, or refuse one whose square is no sound number."""
    number = positive(name, value)
    if not LEAST_SPREAD <= number <= LARGEST_SPREAD:
        raise LobInputError(
            f"{name} must lie between {LEAST_SPREAD:g} and {LARGEST_SPREAD:g}, got {value!r}"
        )
    return number


class OneKernelPolicy(Policy):
    """A policy whose one kernel gives the arms or, without noise, the chances of all arms."""

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return one arm for each user, unchecked."""
        return self._play(state, noise, NO_ODDS)

    def propensities(self, state: State) -> FloatArray:
        """Return the chances of `decide`, unchecked."""
        odds = np.zeros(state.counts.shape)
        self._play(state, np.empty(0), odds)
        return odds

    @abstractmethod
    def _play(self, state: State, noise: FloatArray, odds: FloatArray) -> IntArray:
        """Return an arm for each user; if ``noise`` is empty, write the chances of all arms."""


@dataclass(frozen=True, eq=False, repr=False)
class Ordered(Value[S]):
    """A value that knows the orders of the states: shared by all users, or one set per user."""

    orders: LatentOrders | UserOrders = field(metadata={"decode": LatentOrders.from_dict})
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.orders, LatentOrders | UserOrders):
            raise LobInputError(f"orders must be LatentOrders or UserOrders, got {self.orders!r}")
        if self.n_users == 0:
            raise LobInputError("a policy with orders per user needs at least one user")
        self._fix(n_arms=self.orders.n_arms, arms=self.orders.arms)

    @property
    def n_users(self) -> int | None:
        """Number of users that have orders of their own; None if all share the orders."""
        return self.orders.n_users if isinstance(self.orders, UserOrders) else None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        if not isinstance(self.orders, UserOrders):
            return self
        return self._with(orders=self.orders.take(user_indices(users, self.orders.n_users)))

    def only(self, arms: Iterable[Arm]) -> Self:
        """Return the same policy for some of its arms: with the orders induced on them."""
        return self._with(orders=self.orders.only(arms))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; orders per user only where there is one user."""
        data = super().to_dict()
        if isinstance(self.orders, UserOrders):
            if self.orders.n_users != 1:
                raise LobInputError(
                    f"a policy for {self.orders.n_users} users cannot be stored as one; "
                    "take(user) gives the policy of one user"
                )
            data["orders"] = self.orders[0].to_dict()
        return data


@dataclass(frozen=True, eq=False, repr=False)
class OrderPolicy(Ordered[State], Policy):
    """A policy that knows the orders of the states and the noise of rewards.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.
    """

    sigma: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(sigma=checked_spread("sigma", self.sigma))

    @cached_property
    def _keys(self) -> IntArray:
        """A number for what the policy knows, (1 or n_users,).

        A state remembers it, so as to forget what it derived from other orders.
        """
        options = [value for name, value in self._items().items() if name != "orders"]
        keys = np.empty(len(self.orders.tables.kind), np.int64)
        with np.errstate(over="ignore"):
            mix_orders(self.orders.tables, crc32(repr(options).encode()), keys)
        return read_only(keys)


@dataclass(frozen=True, eq=False, repr=False)
class MeansPolicy(Policy):
    """A policy that knows the means of all arms in every state, and the noise of rewards.

    Parameters
    ----------
    state_means, sigma, arms
        As in `MTS`.
    """

    state_means: FloatArray
    sigma: float
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    n_arms: int = field(init=False)
    n_states: int = field(init=False)

    def __post_init__(self) -> None:
        means = finite_array("state_means", self.state_means)
        if means.ndim not in (2, 3) or not means.size:
            raise LobInputError(
                "state_means must have shape (n_states, n_arms) or (n_users, n_states, n_arms), "
                f"none of them zero, got {means.shape}"
            )
        self._fix(
            state_means=read_only(means.copy()),
            sigma=checked_spread("sigma", self.sigma),
            n_states=means.shape[-2],
            n_arms=means.shape[-1],
            arms=arm_names(means.shape[-1], self.arms or None),
        )

    @property
    def n_users(self) -> int | None:
        """Number of users that have means of their own; None if all share the means."""
        return len(self.state_means) if self.state_means.ndim == 3 else None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        if self.n_users is None:
            return self
        return self._with(state_means=self.state_means[user_indices(users, self.n_users)])

    def only(self, arms: Iterable[Arm]) -> Self:
        """Return the same policy for some of its arms: with their means alone."""
        some = arm_indices(self.arms, arms)
        names = tuple(self.arms[a] for a in some)
        return self._with(state_means=self.state_means[..., some], arms=names)

    @cached_property
    def _tables(self) -> FloatArray:
        """The means with a leading axis of users: (1 or n_users, n_states, n_arms)."""
        return read_only(self.state_means.reshape(-1, self.n_states, self.n_arms))

    @cached_property
    def _tops(self) -> FloatArray:
        """The best mean of each state, (1 or n_users, n_states)."""
        return read_only(self._tables.max(axis=2))

    @cached_property
    def _best(self) -> BoolArray:
        """The arms that have it, (1 or n_users, n_states, n_arms)."""
        return read_only(self._tables == self._tops[:, :, None])

    def _best_names(self) -> np.ndarray[Any, np.dtype[np.str_]]:
        """Return the best arms of each state of the first user, as text."""
        names = np.array(self.arms)
        return np.array([" = ".join(names[best]) for best in self._best[0]])


@lean
def mix_orders(tables: OrderTables, seed: int, out: IntArray) -> None:
    """Write a hash (FNV-1a) of ``seed`` and each user's orders; the same on every machine."""
    n, m, k = tables.sequence.shape
    for u in range(n):
        key = np.int64(seed)
        for s in range(m):
            key = (key ^ tables.kind[u, s]) * FNV
            for j in range(k):
                key = (key ^ np.int64(tables.sequence[u, s, j])) * FNV
                key = (key ^ tables.parent[u, s, j]) * FNV
                if tables.kind[u, s] == DAG:
                    for b in range(k):
                        key = (key ^ tables.above[u, s, j, b]) * FNV
        out[u] = key


@kernel
def pick(values: FloatArray | BoolArray, wanted: float, uniform: float) -> tuple[int, float]:
    """Return one position where ``values == wanted``, each equally likely, and a new uniform.

    Of n such positions, at least one, the floor(n u)-th is taken; n u - floor(n u) is uniform again
    and independent of the choice. Cost O(k).
    """
    ties = 0
    for i in range(len(values)):
        ties += values[i] == wanted
    share = uniform * ties
    skip = min(int(share), ties - 1)
    left = skip
    for i in range(len(values)):
        if values[i] == wanted:
            if left == 0:
                return i, share - skip
            left -= 1
    return -1, uniform


@kernel
def spread(values: FloatArray | BoolArray, wanted: float, mass: float, out: FloatArray) -> None:
    """Add ``mass`` to ``out``, in equal parts, where ``values == wanted``: `pick`'s odds."""
    ties = 0
    for i in range(len(values)):
        ties += values[i] == wanted
    for i in range(len(values)):
        if values[i] == wanted:
            out[i] += mass / ties


@kernel
def exponentiate(logs: FloatArray, cut: float) -> float:
    """Replace ``logs`` by exp(log - max log), 0 if below ``cut``; return their sum."""
    best = logs.max()
    least = np.log(cut)
    total = 0.0
    for s in range(len(logs)):
        gap = logs[s] - best
        logs[s] = np.exp(gap) if gap >= least else 0.0
        total += logs[s]
    return total


@kernel
def draw_weighted(weights: FloatArray, total: float, uniform: float) -> tuple[int, float]:
    """Return a position drawn by its weight (inverse distribution function) and a new uniform.

    Invariant: ``target`` is what is left of u * total after the weights passed so far; within
    the chosen weight it is uniform again. Rounding at the end falls to the last weight.
    """
    target = uniform * total
    last, inside = -1, 0.0
    for s in range(len(weights)):
        if weights[s] > 0.0:
            if target < weights[s]:
                return s, target / weights[s]
            target -= weights[s]
            last, inside = s, 0.5
    return last, inside


@kernel
def draw_arms(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its weight."""
    n = len(weights)
    chosen = np.empty(n, np.int64)
    for u in range(n):
        chosen[u], _ = draw_weighted(weights[u], weights[u].sum(), noise[u])
    return chosen


@kernel
def draw_top(weights: FloatArray, total: float, tops: BoolArray, uniform: float) -> tuple[int, int]:
    """Return a state drawn by its weight, and one of its top arms; ``tops`` (m, k)."""
    s, left = draw_weighted(weights, total, uniform)
    arm, _ = pick(tops[s], True, left)
    return s, arm


@kernel
def spread_tops(weights: FloatArray, total: float, tops: BoolArray, out: FloatArray) -> None:
    """Add to ``out`` the chances of the arms in `draw_top`."""
    for s in range(len(weights)):
        if weights[s] > 0.0:
            spread(tops[s], True, weights[s] / total, out)
