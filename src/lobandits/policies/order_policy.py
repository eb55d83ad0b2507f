"""OrderPolicy: what policies share that know the orders of the states, and the noise of rewards.

Shares are how common the states are: their prior p(s).
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import (
    FloatArray,
    IntArray,
    checked_spread,
    finite_array,
    read_only,
    user_indices,
)
from lobandits._jit import lean
from lobandits.errors import LobInputError
from lobandits.orders import DAG, LatentOrders, OrderTables, UserOrders
from lobandits.policies.losses import state_losses
from lobandits.policies.policy import Policy
from lobandits.policies.state import S

FNV = 0x100000001B3
ROUNDING = 1e-12  # how far from 1 the sum of shares may be that were made to sum to one


@dataclass(frozen=True)
class OrderPolicy(Policy[S]):
    """A policy that knows the orders of the states: shared by all users, or one set per user.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.
    """

    orders: LatentOrders | UserOrders = field(metadata={"decode": LatentOrders.from_dict})
    sigma: float
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.orders, LatentOrders | UserOrders):
            raise LobInputError(f"orders must be LatentOrders or UserOrders, got {self.orders!r}")
        if self.n_users == 0:
            raise LobInputError("a policy with orders per user needs at least one user")
        self._set(
            n_arms=self.orders.n_arms,
            arms=self.orders.arms,
            sigma=checked_spread("sigma", self.sigma),
        )

    @property
    def n_users(self) -> int | None:
        """Number of users that have orders of their own; None if all share the orders."""
        return self.orders.n_users if isinstance(self.orders, UserOrders) else None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        if not isinstance(self.orders, UserOrders):
            return self
        return self._with(orders=self.orders.take(user_indices(users, self.orders.n_users)))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data; orders per user only where there is one user."""
        if not isinstance(self.orders, UserOrders):
            return super().to_dict()
        if self.orders.n_users != 1:
            raise LobInputError(
                f"a policy for {self.orders.n_users} users cannot be stored as one; "
                "take(user) gives the policy of one user"
            )
        return self._with(orders=self.orders[0]).to_dict()

    def state_posterior(self, state: S) -> FloatArray:
        r"""Return :math:`p(s) \exp(-L(s) / (2 \sigma^2))`, made to sum to one.

        L(s) is the loss of the best means in the order of s.
        """
        logs = self._log_shares - state_losses(self.orders, state) / (2 * self.sigma**2)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        posterior: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return posterior

    @cached_property
    def _log_shares(self) -> FloatArray:
        """Log p(s), up to a constant: 0 unless a policy has shares."""
        return log_shares(getattr(self, "shares", None), self.orders.n_states)

    @cached_property
    def _keys(self) -> IntArray:
        """A number for what the policy knows, (1 or n_users,).

        A state remembers it, so as to forget what it derived from other orders.
        """
        # What was derived from orders fades with the rewards, so it may stay.
        told = {"orders", "half_life", "forget"}
        options = [_list(value) for name, value in self._items().items() if name not in told]
        keys = np.empty(len(self.orders.tables.kind), np.int64)
        with np.errstate(over="ignore"):
            hash_orders(self.orders.tables, crc32(repr(options).encode()), keys)
        return read_only(keys)


def _list(value: Any) -> Any:
    """Return arrays as lists, whose text has every digit."""
    return value.tolist() if isinstance(value, np.ndarray) else value


@lean
def hash_orders(tables: OrderTables, seed: int, out: IntArray) -> None:
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


def checked_shares(shares: ArrayLike | None, n_states: int) -> FloatArray | None:
    """Return the states' shares, made to sum to one; None stands for equal ones."""
    if shares is None:
        return None
    given = finite_array("shares", shares)
    with np.errstate(over="ignore"):
        total = float(given.sum())
    if given.shape != (n_states,) or (given < 0).any() or not 0 < total < np.inf:
        raise LobInputError(
            f"shares must be {n_states} numbers, one per state, none negative and some positive, "
            f"got {shares}"
        )
    if abs(total - 1) <= ROUNDING:  # dividing again would change stored shares by a rounding
        return given
    checked: FloatArray = given / total
    return checked


def log_shares(shares: FloatArray | None, n_states: int) -> FloatArray:
    """Return log p(s) less that of the most common state: 0 for equal shares, -inf for none."""
    if shares is None:
        return read_only(np.zeros(n_states))
    with np.errstate(divide="ignore"):
        return read_only(np.log(shares / shares.max()))
