"""lobTS: sample the arm that is on top of the best fitting order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import FloatArray, IntArray, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.orders import OrderTables
from lobandits.policies.bounded import (
    Bounds,
    Items,
    Room,
    catch_up,
    forget,
    losses_on_top,
    make_bounds,
    make_items,
    make_room,
)
from lobandits.policies.explain import Details
from lobandits.policies.families import OrderPolicy
from lobandits.policies.sampling import draw_weighted
from lobandits.policies.state import State, no_rewards
from lobandits.projection import projection_losses

CUT = 1e-12
CACHE_LIMIT = 2**26  # numbers kept as bounds (512 MB); above that every state is projected

MEMORY = {"role": "memory", "empty": 0}
CACHE = {"role": "cache", "empty": 0}


@dataclass(eq=False, repr=False)
class LobTSState(State):
    """Rewards, the weights since the last projection, and bounds that save projections.

    Attributes
    ----------
    weights : float64 (n_users, n_arms)
        The arms' likelihoods, relative to the best, at the last projection.
    projected : int64 (n_users,)
        Plays at the last projection, -1 before the first.
    known : int64 (n_users,)
        Names the orders and sigma that all the rest was derived from.
    bound, fit, seen_counts, seen_sums
        See `lobandits.policies.bounded`.
    """

    weights: FloatArray = field(metadata=MEMORY)
    projected: IntArray = field(metadata={"role": "memory", "empty": -1})
    known: IntArray = field(metadata=MEMORY)
    bound: FloatArray = field(metadata=CACHE)
    fit: FloatArray = field(metadata=CACHE)
    seen_counts: IntArray = field(metadata=CACHE)
    seen_sums: FloatArray = field(metadata=CACHE)


@dataclass(frozen=True, eq=False, repr=False)
class LobTS(OrderPolicy):
    r"""Sample an arm by the likelihood of the best means that have it on top (Algorithm 2).

    .. math:: p(a) \propto \exp(-L(a) / (2 \sigma^2)), \quad
        L(a) = \min_{s : a \in \mathrm{Max}(s)} \min_{\mu \in H_s \cap M_a}
        \sum_b N_b (\mu_b - \hat\mu_b)^2

    An arm on top of no state has probability 0, and so has one below 1e-12 of the best. Orders
    whose loss provably cannot matter are not projected; that changes no probability.

    Parameters
    ----------
    orders
        The orders of all states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the confidence parameter c of the paper.
    project_every
        Plays between two projections (T_proj); in between the last probabilities are used.
        The paper's algorithm projects every round: 1.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobTS(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[2, 0], rewards=[3.0, 1.0], users=[0, 0])
    >>> policy.probabilities(state).round(4)
    array([[0.2689, 0.    , 0.7311]])
    """

    name = "lobts"
    state_type = LobTSState
    project_every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(project_every=whole("project_every", self.project_every, most=2**62))

    @property
    def counts_suffice(self) -> bool:
        """Whether every round projects, so that no weights must be remembered."""
        return self.project_every == 1

    def new_state(self, n_users: int) -> LobTSState:
        """Return the state of users without rewards."""
        n_items = self._items_of_orders.state.shape[1]
        if n_users * n_items * self.n_arms > CACHE_LIMIT:
            n_items = 0
        bounds = make_bounds(n_users, self.n_arms, n_items)
        return LobTSState(
            **no_rewards(n_users, self.n_arms),
            weights=np.zeros((n_users, self.n_arms)),
            projected=np.full(n_users, -1),
            known=np.zeros(n_users, np.int64),
            bound=bounds.bound,
            fit=bounds.fit,
            seen_counts=bounds.counts,
            seen_sums=bounds.sums,
        )

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `State.to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        assert isinstance(state, LobTSState)
        state.projected[state.known != self._keys] = -1
        state.weights[state.projected < 0] = 0.0
        largest = state.weights.max(axis=1)[state.projected >= 0]
        if (state.weights < 0).any() or (largest <= 0).any():
            raise LobInputError("weights must not be negative, and some must be positive")
        if ((state.weights > 0) & ~np.atleast_2d(self.orders.tops)).any():
            raise LobInputError("weights must be 0 for arms on top of no state")
        if ((state.projected < -1) | (state.projected > state.plays)).any():
            raise LobInputError("projected must lie between -1 and the plays recorded")
        return state

    @cached_property
    def _items_of_orders(self) -> Items:
        return make_items(self.orders.tables)

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return an arm for each user, drawn by the weights."""
        return draw_arms(self._project(state), noise)

    def propensities(self, state: State) -> FloatArray:
        """Return the weights, made to sum to one."""
        weights = self._project(state)
        odds: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return odds

    def details(self, state: State) -> Details:
        """Return the loss of each arm on top, and the log-likelihood of each state."""
        counts = state.counts[0].astype(np.float64)
        means = np.divide(state.sums[0], counts, out=np.zeros(self.n_arms), where=counts > 0)
        shape = (1, self.n_arms) if self.n_users else (self.n_arms,)
        losses = projection_losses(means.reshape(shape), counts, self.orders)
        losses = losses.reshape(-1, self.n_arms)
        weights = self._project(state)[0]
        scale = 2 * self.sigma**2
        least = losses.min()
        return Details(
            arms={"loss": losses.min(axis=0), "weight": weights},
            states={
                "loss": losses.min(axis=1),
                "log-likelihood": (least - losses.min(axis=1)) / scale,
            },
        )

    def _project(self, state: State) -> FloatArray:
        """Bring the weights of all users up to date and return them."""
        assert isinstance(state, LobTSState)
        items = self._items_of_orders
        n_items = items.state.shape[1]
        kept = state.bound.shape[1] >= n_items
        if kept:
            bounds = Bounds(state.bound, state.fit, state.seen_counts, state.seen_sums)
        else:
            bounds = make_bounds(1, self.n_arms, n_items)
        project_users(
            state.counts,
            state.sums,
            state.weights,
            state.projected,
            state.known,
            self._keys,
            self.orders.tables,
            items,
            bounds,
            kept,
            make_room(self.n_arms, n_items),
            self.project_every,
            self.sigma**2,
            CUT,
        )
        return state.weights


@kernel
def project_users(
    counts: IntArray,
    sums: FloatArray,
    weights: FloatArray,
    projected: IntArray,
    known: IntArray,
    keys: IntArray,
    tables: OrderTables,
    items: Items,
    bounds: Bounds,
    kept: bool,
    room: Room,
    project_every: int,
    variance: float,
    cut: float,
) -> None:
    """Bring up to date the weights of the users whose last projection is too long ago.

    Bounds that are not ``kept``, or that other orders left, start again from 0.
    """
    n, k = counts.shape
    reach = -2.0 * variance * np.log(cut)
    for u in range(n):
        plays = counts[u].sum()
        key = keys[u if len(keys) > 1 else 0]
        if known[u] == key and projected[u] >= 0 and plays - projected[u] < project_every:
            continue
        slot = u if kept else 0
        if known[u] != key or not kept:
            forget(slot, bounds)
        if kept:
            catch_up(counts, sums, u, bounds)
        known[u] = key
        projected[u] = plays
        out = weights[u]
        least = losses_on_top(
            counts, sums, u, slot, tables, items, reach, variance, bounds, room, out
        )
        for a in range(k):
            gap = out[a] - least
            out[a] = np.exp(-gap / (2.0 * variance)) if gap <= reach else 0.0


@kernel
def draw_arms(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return an arm for each user, drawn by its weight."""
    n = len(weights)
    chosen = np.empty(n, np.int64)
    for u in range(n):
        chosen[u], _ = draw_weighted(weights[u], weights[u].sum(), noise[u])
    return chosen
