"""OrderPolicy: what policies share that know the orders of the states, and the noise of rewards."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    checked_spread,
    read_only,
    user_indices,
)
from lobandits.beliefs.orders import state_losses
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies.policy import Policy
from lobandits.policies.shares import log_shares
from lobandits.statistics.state import S


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
        super().__post_init__()

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
    def _penalty(self) -> FloatArray:
        """What losses of each state have on top: - 2 sigma^2 log(p(s) / largest p), (m,)."""
        return read_only(-2.0 * self.sigma**2 * self._log_shares)

    @cached_property
    def all_states(self) -> BoolArray:
        """The set of all states, (1, n_states)."""
        return read_only(np.ones((1, self.orders.n_states), np.bool_))

    def fit_of_states(self, state: S) -> dict[str, FloatArray]:
        """Return, as columns, how well each state explains the rewards of the one user."""
        loss = state_losses(self.orders, state)[0]
        return {"loss": loss, "log-likelihood": (loss.min() - loss) / (2 * self.sigma**2)}
