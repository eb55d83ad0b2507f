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
from typing import ClassVar, NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import lean
from lobandits.orders import OrderTables
from lobandits.policies.families import OrderPolicy, draw_arms
from lobandits.policies.state import State, array, empty_state
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
    """Orders, their items and bounds, and what the bounds were derived from."""

    tables: OrderTables
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

    known: IntArray = field(metadata=array("cache"))
    bound: FloatArray = field(metadata=array("cache", "items", dtype=np.float64))
    fit: FloatArray = field(metadata=array("cache", "items", "arms", dtype=np.float64))
    seen_counts: IntArray = field(metadata=array("cache", "arms"))
    seen_sums: FloatArray = field(metadata=array("cache", "arms", dtype=np.float64))


@dataclass(frozen=True, eq=False, repr=False)
class BoundedPolicy(OrderPolicy):
    """A policy that weighs the arms by the losses of projections, and draws one by its weight."""

    state_type: ClassVar[type[BoundedState]] = BoundedState

    def new_state(self, n_users: int) -> BoundedState:
        """Return an empty state, without bounds if these would take too much memory."""
        fits = n_users * self._n_items * self.n_arms <= CACHE_LIMIT
        items = self._n_items if fits else 0
        return empty_state(self.state_type, n_users, arms=self.n_arms, items=items)

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

    def _tracker(self, state: BoundedState) -> Tracker:
        """Return the state's bounds, or room for those of one user where none are kept."""
        kept = state.bound.shape[1] >= self._n_items
        s = state
        if not kept:
            s = empty_state(BoundedState, 1, arms=self.n_arms, items=self._n_items)
        bounds = Bounds(s.bound, s.fit, s.seen_counts, s.seen_sums)
        tables, items = self.orders.tables, self._items_of_orders
        return Tracker(tables, items, bounds, kept, state.known, self._keys)

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
    place = np.arange(len(user)) - np.searchsorted(user, user)  # among the user's own
    state[user, place] = which
    arm[user, place] = top
    return Items(state, arm, np.ascontiguousarray(first))


def make_room(k: int, n_items: int) -> Room:
    """Allocate the working memory of `losses_on_top`."""
    scratch, flow = make_scratch(k)
    return Room(np.empty(k), np.empty(k), np.empty(n_items, np.bool_), scratch, flow)


@lean
def forget(slot: int, b: Bounds) -> None:
    """Start a user's bounds again: no reward covered, and 0 is a bound of every loss."""
    b.bound[slot] = 0.0
    b.seen_counts[slot] = 0
    b.seen_sums[slot] = 0.0


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
def read_user(
    counts: IntArray, sums: FloatArray, u: int, tracker: Tracker, r: Room
) -> tuple[int, int]:
    """Write the plays and means of user ``u``, nothing projected; bring its bounds up to date.

    Bounds of other orders start again. Return the rows of the user's items and bounds.
    """
    row = u if tracker.keys.shape[0] > 1 else 0
    slot = u if tracker.kept else 0
    if tracker.known[u] != tracker.keys[row] or not tracker.kept:
        forget(slot, tracker.bounds)
    if tracker.kept:
        catch_up(counts, sums, u, tracker.bounds)
    tracker.known[u] = tracker.keys[row]
    for a in range(counts.shape[1]):
        r.weight[a] = counts[u, a]
        r.mean[a] = sums[u, a] / counts[u, a] if counts[u, a] > 0 else 0.0
    r.projected[:] = False
    return row, slot


@lean
def project_item(i: int, row: int, slot: int, tracker: Tracker, r: Room) -> float:
    """Project on item ``i``, unless that is done; its bound is then exact: return it."""
    t, items, b = tracker.tables, tracker.items, tracker.bounds
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
    tracker: Tracker,
    reach: float,
    tolerance: float,
    r: Room,
    out: FloatArray,
) -> float:
    """Write L(a), inf if no item has arm a on top or it exceeds the least by ``reach``.

    Return the least. Of each arm's items, the one with the lowest bound is projected first, the
    others only if their bounds are lower.
    """
    row, slot = read_user(counts, sums, u, tracker, r)
    first_of, b = tracker.items.first[row], tracker.bounds
    k = len(out)
    least = project_item(lowest(slot, 0, first_of[k], b), row, slot, tracker, r)
    for a in range(k):
        out[a] = np.inf
        lo, hi = first_of[a], first_of[a + 1]
        first = lowest(slot, lo, hi, b)
        if lo == hi or b.bound[slot, first] > least + reach:
            continue
        best = project_item(first, row, slot, tracker, r)
        for i in range(lo, hi):
            if best > 0.0 and b.bound[slot, i] < best + SLACK * (best + tolerance):
                best = min(best, project_item(i, row, slot, tracker, r))
        out[a] = best
        least = min(least, best)
    return least
