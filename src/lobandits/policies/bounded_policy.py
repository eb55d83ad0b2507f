"""What policies on projection losses share: bounds that save projections, a weighted draw."""

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel
from lobandits.policies.bounded import Bounds, Items, Tracker, make_bounds, make_items
from lobandits.policies.families import OrderPolicy
from lobandits.policies.sampling import draw_weighted
from lobandits.policies.state import State, no_rewards
from lobandits.projection import projection_losses

CACHE_LIMIT = 2**26  # numbers kept as bounds (512 MB); above that every state is projected
CACHE = {"role": "cache", "empty": 0}


@dataclass(eq=False, repr=False)
class BoundedState(State):
    """Rewards, and bounds that save projections.

    Attributes
    ----------
    known : int64 (n_users,)
        Names the orders and sigma that all the rest was derived from.
    bound, fit, seen_counts, seen_sums
        See `lobandits.policies.bounded`.
    """

    known: IntArray = field(metadata=CACHE)
    bound: FloatArray = field(metadata=CACHE)
    fit: FloatArray = field(metadata=CACHE)
    seen_counts: IntArray = field(metadata=CACHE)
    seen_sums: FloatArray = field(metadata=CACHE)


@dataclass(frozen=True, eq=False, repr=False)
class BoundedPolicy(OrderPolicy):
    """A policy that weighs the arms by the losses of projections, and draws one by its weight."""

    state_type: ClassVar[type[State]] = BoundedState

    def new_state(self, n_users: int) -> BoundedState:
        """Return the state of users without rewards."""
        return BoundedState(**no_rewards(n_users, self.n_arms), **self._no_bounds(n_users))

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return an arm for each user, drawn by the weights."""
        return draw_arms(self._weights(state), noise)

    def propensities(self, state: State) -> FloatArray:
        """Return the weights, made to sum to one."""
        weights = self._weights(state)
        odds: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return odds

    @abstractmethod
    def _weights(self, state: State) -> FloatArray:
        """Return the weights of all users' arms; bring what the state remembers up to date."""

    @cached_property
    def _items_of_orders(self) -> Items:
        return make_items(self.orders.tables)

    @property
    def _n_items(self) -> int:
        return int(self._items_of_orders.state.shape[1])

    def _no_bounds(self, n_users: int) -> dict[str, Any]:
        """Return the fields of `BoundedState` for users without rewards."""
        fits = n_users * self._n_items * self.n_arms <= CACHE_LIMIT
        bounds = make_bounds(n_users, self.n_arms, self._n_items if fits else 0)
        return {
            "known": np.zeros(n_users, np.int64),
            "bound": bounds.bound,
            "fit": bounds.fit,
            "seen_counts": bounds.counts,
            "seen_sums": bounds.sums,
        }

    def _tracker(self, state: BoundedState) -> Tracker:
        """Return the state's bounds, or room for those of one user where none are kept."""
        kept = state.bound.shape[1] >= self._n_items
        if kept:
            bounds = Bounds(state.bound, state.fit, state.seen_counts, state.seen_sums)
        else:
            bounds = make_bounds(1, self.n_arms, self._n_items)
        return Tracker(self._items_of_orders, bounds, kept, state.known, self._keys)

    def _losses(self, state: State) -> FloatArray:
        """Return every loss of the one user in ``state``, (n_states, n_arms)."""
        counts = state.counts[0].astype(np.float64)
        means = np.divide(state.sums[0], counts, out=np.zeros(self.n_arms), where=counts > 0)
        shape = (1, self.n_arms) if self.n_users else (self.n_arms,)
        losses = projection_losses(means.reshape(shape), counts, self.orders)
        return losses.reshape(-1, self.n_arms)

    def _fit_of_states(self, losses: FloatArray) -> dict[str, FloatArray]:
        """Return how well each state explains the rewards, as columns."""
        loss = losses.min(axis=1)
        return {"loss": loss, "log-likelihood": (loss.min() - loss) / (2 * self.sigma**2)}


@kernel
def draw_arms(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its weight."""
    n = len(weights)
    chosen = np.empty(n, np.int64)
    for u in range(n):
        chosen[u], _ = draw_weighted(weights[u], weights[u].sum(), noise[u])
    return chosen
