"""The smallest projection loss for each arm on top, with as few projections as possible.

Write F(mu) = sum_a N_a (mu_a - m_a)^2 for one user's plays N and means m. An item i is a state
with one of its maximal arms on top; C_i is its closed cone. Wanted is, for every arm,

    L(a) = min over items i with arm a on top of min over mu in C_i of F(mu).

A projection x of m on a convex cone has F(mu) >= F(x) + sum_a N_a (mu_a - x_a)^2 on the cone.
So if ``bound`` = F(x) when the item was last projected, and later j rewards with mean r arrive
for arm a with n plays and mean y before, minimising over each arm alone leaves a valid bound:

    bound += n j / (n + j) ((r - x_a)^2 - (r - y)^2),   x_a += j / (n + j) (r - x_a).

That costs O(1) per item and reward, and is exact while the arm is pooled with no other and keeps
its place. An item whose bound exceeds what its arm has already is not projected.
"""

from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import OrderTables
from lobandits.policies.families import OrderPolicy
from lobandits.policies.sampling import draw_arms
from lobandits.policies.state import CACHE, State, no_rewards
from lobandits.projection import projection_losses
from lobandits.projection.kernels import fit_one
from lobandits.projection.pooling import Scratch, make_scratch

SLACK = 1e-9  # a bound may be wrong by rounding, relative to the losses and to sigma^2
CACHE_LIMIT = 2**26  # numbers kept as bounds (512 MB); above that every state is projected


class Items(NamedTuple):
    """All pairs of a state and a maximal arm, grouped by arm; u = 1 where users share them."""

    state: IntArray  # (u, n_items)
    arm: IntArray  # (u, n_items)
    first: IntArray  # (u, k + 1): the items of arm a are first[a] ... first[a + 1] - 1


class Bounds(NamedTuple):
    """What is known of every user's items since they were last projected."""

    bound: FloatArray  # (n_users, n_items)
    fit: FloatArray  # (n_users, n_items, k): x above
    seen_counts: IntArray  # (n_users, k): the plays that the bounds cover
    seen_sums: FloatArray  # (n_users, k): their rewards


class Tracker(NamedTuple):
    """Items, bounds, and what the bounds were derived from."""

    items: Items
    bounds: Bounds
    kept: bool  # False: the bounds are room for one user, and start again for each
    known: IntArray  # (n_users,): names the orders behind each user's bounds
    keys: IntArray  # (u,): names the orders now


class Room(NamedTuple):
    """Working memory for one user."""

    mean: FloatArray  # (k,)
    weight: FloatArray  # (k,)
    projected: BoolArray  # (n_items,)
    scratch: Scratch
    flow: FloatArray


@dataclass(eq=False, repr=False)
class BoundedState(State):
    """Rewards, and bounds that save projections: see `Bounds` and `Tracker`."""

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
        """Return the weights of all users' arms; bring the state's bounds up to date."""

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
        return {"known": np.zeros(n_users, np.int64), **bounds._asdict()}

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
        losses = projection_losses(np.nan_to_num(state.means), state.counts, self.orders)
        return losses.reshape(-1, self.n_arms)

    def _fit_of_states(self, losses: FloatArray) -> dict[str, FloatArray]:
        """Return how well each state explains the rewards, as columns."""
        loss = losses.min(axis=1)
        return {"loss": loss, "log-likelihood": (loss.min() - loss) / (2 * self.sigma**2)}


def make_items(tables: OrderTables) -> Items:
    """Return the items of all orders; users with fewer than others have unused ones last."""
    maximal = tables.maximal.transpose(0, 2, 1)
    per_arm = maximal.sum(axis=2)
    first = np.concatenate([np.zeros((len(maximal), 1), np.int64), per_arm.cumsum(axis=1)], axis=1)
    state = np.zeros((len(maximal), int(first[:, -1].max())), np.int64)
    arm = np.zeros_like(state)
    user, top, which = np.nonzero(maximal)
    place = np.arange(len(user)) - np.concatenate([[0], first[:, -1].cumsum()[:-1]])[user]
    state[user, place] = which
    arm[user, place] = top
    return Items(state, arm, np.ascontiguousarray(first))


def make_bounds(n_users: int, k: int, n_items: int) -> Bounds:
    """Return the bounds of users without rewards."""
    bound, fit = np.zeros((n_users, n_items)), np.zeros((n_users, n_items, k))
    return Bounds(bound, fit, np.zeros((n_users, k), np.int64), np.zeros((n_users, k)))


def make_room(k: int, n_items: int) -> Room:
    """Allocate the working memory of `losses_on_top`."""
    scratch, flow = make_scratch(k)
    return Room(np.empty(k), np.empty(k), np.empty(n_items, np.bool_), scratch, flow)


@lean
def forget(slot: int, b: Bounds) -> None:
    """Start a user's bounds again: no reward covered, and 0 is a bound of every loss."""
    for i in range(b.bound.shape[1]):
        b.bound[slot, i] = 0.0
    for a in range(b.seen_counts.shape[1]):
        b.seen_counts[slot, a] = 0
        b.seen_sums[slot, a] = 0.0


@lean
def catch_up(counts: IntArray, sums: FloatArray, u: int, b: Bounds) -> None:
    """Carry the bounds of user ``u`` over to the rewards that came since; O(items) per arm."""
    k = counts.shape[1]
    for a in range(k):
        before, after = b.seen_counts[u, a], counts[u, a]
        if after == before and sums[u, a] == b.seen_sums[u, a]:
            continue
        if after <= before:  # not more rewards but other ones: start again
            forget(u, b)
            catch_up(counts, sums, u, b)
            return
        j = after - before
        new = (sums[u, a] - b.seen_sums[u, a]) / j
        if before == 0:
            for i in range(b.bound.shape[1]):
                b.fit[u, i, a] = new
        else:
            old = b.seen_sums[u, a] / before
            step = j / after
            scale = before * step
            for i in range(b.bound.shape[1]):
                x = b.fit[u, i, a]
                b.bound[u, i] += scale * ((old - x) * (2.0 * new - x - old))
                b.fit[u, i, a] = x + step * (new - x)
        b.seen_counts[u, a] = after
        b.seen_sums[u, a] = sums[u, a]


@lean
def refresh(counts: IntArray, sums: FloatArray, u: int, tracker: Tracker) -> int:
    """Bring the bounds of user ``u`` up to date; return their row. Other orders start again."""
    key = tracker.keys[u if tracker.keys.shape[0] > 1 else 0]
    slot = u if tracker.kept else 0
    if tracker.known[u] != key or not tracker.kept:
        forget(slot, tracker.bounds)
    if tracker.kept:
        catch_up(counts, sums, u, tracker.bounds)
    tracker.known[u] = key
    return slot


@lean
def read_user(counts: IntArray, sums: FloatArray, u: int, items: Items, r: Room) -> int:
    """Write the plays and means of user ``u``, nothing projected; return the row of its items."""
    row = u if items.first.shape[0] > 1 else 0
    k = counts.shape[1]
    for a in range(k):
        r.weight[a] = counts[u, a]
        r.mean[a] = sums[u, a] / counts[u, a] if counts[u, a] > 0 else 0.0
    for i in range(items.first[row, k]):
        r.projected[i] = False
    return row


@lean
def project_item(
    i: int, t: OrderTables, items: Items, row: int, slot: int, b: Bounds, r: Room
) -> float:
    """Project on item ``i``, unless that is done; its bound is then exact: return it."""
    if not r.projected[i]:
        state, top = items.state[row, i], items.arm[row, i]
        b.bound[slot, i] = fit_one(
            r.mean, r.weight, t, row, state, top, b.fit[slot, i], r.scratch, r.flow
        )
        r.projected[i] = True
    return float(b.bound[slot, i])


@lean
def lowest(slot: int, lo: int, hi: int, b: Bounds) -> int:
    """Return the item from ``lo`` to ``hi`` with the lowest bound."""
    best = lo
    for i in range(lo + 1, hi):
        if b.bound[slot, i] < b.bound[slot, best]:
            best = i
    return best


@lean
def losses_on_top(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    slot: int,
    t: OrderTables,
    items: Items,
    reach: float,
    tolerance: float,
    b: Bounds,
    r: Room,
    out: FloatArray,
) -> float:
    """Write L(a), inf if no item has arm a on top or it exceeds the least by ``reach``.

    Return the least. Of each arm's items, the one with the lowest bound is projected first, the
    others only if their bounds are lower. ``slot`` is the user's row in the bounds.
    """
    row = read_user(counts, sums, u, items, r)
    k = len(out)
    least = project_item(lowest(slot, 0, items.first[row, k], b), t, items, row, slot, b, r)
    for a in range(k):
        out[a] = np.inf
        lo, hi = items.first[row, a], items.first[row, a + 1]
        first = lowest(slot, lo, hi, b)
        if lo == hi or b.bound[slot, first] > least + reach:
            continue
        best = project_item(first, t, items, row, slot, b, r)
        for i in range(lo, hi):
            if best > 0.0 and b.bound[slot, i] < best + SLACK * (best + tolerance):
                best = min(best, project_item(i, t, items, row, slot, b, r))
        out[a] = best
        least = min(least, best)
    return least
