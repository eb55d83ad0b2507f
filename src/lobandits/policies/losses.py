"""The smallest projection loss with each arm on top, with as few projections as possible.

Write F(mu) = sum_a N_a (mu_a - m_a)^2 for one user's plays N and means m. An item i is a state
with one of its maximal arms on top, or with none; C_i is its closed cone. Wanted is, for every arm,

    L(a) = min over items i with arm a on top of min over mu in C_i of F(mu) - 2 sigma^2 log p(s).

A projection x of m on a convex cone has F(mu) >= F(x) + sum_a N_a (mu_a - x_a)^2 on the cone.
So if ``bound`` = F(x) when the item was last projected, and later j rewards with mean r arrive
for arm a with n plays and mean y before, minimising over each arm alone leaves a valid bound:

    bound += n j / (n + j) ((r - x_a)^2 - (r - y)^2),   x_a += j / (n + j) (r - x_a).

That costs O(1) per item and reward, and is exact while the arm is pooled with no other and keeps
its place. An item whose bound exceeds what its arm has already is not projected.

Where only some arms are allowed, an arm is on top if it exceeds every *allowed* one. In a state
with one maximal allowed arm that binds nothing, so its loss is the state's own, with none on top;
else the states near enough are projected on the order with these relations added.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits._jit import kernel, lean
from lobandits.orders import DAG, LatentOrders, OrderTables, UserOrders
from lobandits.policies.allowed import all_allowed, mark_tops
from lobandits.policies.state import State, array, empty_state
from lobandits.projection import projection_losses
from lobandits.projection.kernels import fit_one
from lobandits.projection.mincut import split_dag
from lobandits.projection.pooling import Scratch, make_scratch

SLACK = 1e-9  # a bound may be wrong by rounding, relative to the losses and to sigma^2
CACHE_LIMIT = 2**26  # numbers kept as bounds (512 MB); above that every state is projected


class Items(NamedTuple):
    """States with an arm on top, grouped by arm; then some with none. u = 1 where users share them.

    A state with one maximal arm needs no item without an arm on top: it is the same cone.
    """

    state: IntArray  # (u, n_items)
    arm: IntArray  # (u, n_items): -1 for none
    first: IntArray  # (u, k + 1): the items of arm a are first[a] ... first[a + 1] - 1
    plain: IntArray  # (u, m): by state, the item without an arm on top, or the same cone
    used: IntArray  # (u,): how many items the user has
    penalty: FloatArray  # (m,): by state, 2 sigma^2 log(largest p / p(s))


class Bounds(NamedTuple):
    """What is known of every user's items since they were last projected.

    Items with and without an arm on top are two groups: the second is seldom brought up to date.
    """

    bound: FloatArray  # (n_users, n_items)
    fit: FloatArray  # (n_users, k, n_items): x above; items last, for SIMD
    seen_counts: IntArray  # (n_users, groups, k): the plays that the bounds cover
    seen_sums: FloatArray  # (n_users, groups, k): their rewards


class Memory(NamedTuple):
    """Working memory for one user."""

    mean: FloatArray  # (k,)
    weight: FloatArray  # (k,)
    fit: FloatArray  # (k,): the last projection
    projected: BoolArray  # (n_items,)
    tops: BoolArray  # (k,)
    above: BoolArray  # (k, k)
    scratch: Scratch
    flow: FloatArray


class Losses(NamedTuple):
    """Orders, their items and bounds, and what the bounds were derived from."""

    tables: OrderTables
    items: Items
    bounds: Bounds
    kept: bool  # False: the bounds are memory for one user, and start again for each
    known: IntArray  # (n_users,): names the orders behind each user's bounds
    keys: IntArray  # (u,): names the orders now
    memory: Memory


@dataclass(eq=False, repr=False)
class LossState(State):
    """Rewards, and bounds that save projections: see `Bounds` and `Losses`."""

    known: IntArray = field(metadata=array("cache"))
    bound: FloatArray = field(metadata=array("cache", "items", dtype=np.float64))
    fit: FloatArray = field(metadata=array("cache", "arms", "items", dtype=np.float64))
    seen_counts: IntArray = field(metadata=array("cache", "groups", "arms"))
    seen_sums: FloatArray = field(metadata=array("cache", "groups", "arms", dtype=np.float64))


L = TypeVar("L", bound=LossState)


def make_items(orders: LatentOrders | UserOrders, penalty: FloatArray) -> Items:
    """Return the items of all orders; users with fewer than others have unused ones last."""
    maximal = orders.tables.maximal
    users, m, k = maximal.shape
    by_arm = maximal.transpose(0, 2, 1)
    first = np.zeros((users, k + 1), np.int64)
    by_arm.sum(axis=2).cumsum(axis=1, out=first[:, 1:])
    several = maximal.sum(axis=2) > 1
    used = first[:, -1] + several.sum(axis=1)
    state, arm = np.zeros((2, users, int(used.max())), np.int64)
    plain = np.zeros((users, m), np.int64)
    user, top, which = np.nonzero(by_arm)
    place = np.arange(len(user)) - np.searchsorted(user, user)  # among the user's own
    state[user, place], arm[user, place], plain[user, which] = which, top, place
    user, which = np.nonzero(several)
    place = first[user, -1] + np.arange(len(user)) - np.searchsorted(user, user)
    state[user, place], arm[user, place], plain[user, which] = which, -1, place
    return Items(*map(read_only, (state, arm, first, plain, used, penalty)))


def new_state(kind: type[L], n_users: int, n_arms: int, items: Items) -> L:
    """Return an empty state, without bounds if these would take too much memory."""
    n_items = items.state.shape[1]
    groups = 1 + int((items.used > items.first[:, -1]).any())
    fits = n_users * n_items * n_arms <= CACHE_LIMIT
    kept = {"items": n_items, "groups": groups} if fits else {"items": 0, "groups": 0}
    return empty_state(kind, n_users, arms=n_arms, **kept)


def open_losses(
    orders: LatentOrders | UserOrders, items: Items, keys: IntArray, state: LossState
) -> Losses:
    """Return what `losses_on_top` needs of a state, with memory for one user."""
    k, n_items = state.n_arms, items.state.shape[1]
    kept = state.bound.shape[1] >= n_items
    s = state if kept else new_state(LossState, 1, k, items)
    bounds = Bounds(s.bound, s.fit, s.seen_counts, s.seen_sums)
    scratch, flow = make_scratch(k)
    memory = Memory(
        mean=np.empty(k),
        weight=np.empty(k),
        fit=np.empty(k),
        projected=np.empty(n_items, np.bool_),
        tops=np.empty(k, np.bool_),
        above=np.empty((k, k), np.bool_),
        scratch=scratch,
        flow=flow,
    )
    return Losses(orders.tables, items, bounds, kept, state.known, keys, memory)


def state_losses(orders: LatentOrders | UserOrders, state: State) -> FloatArray:
    """Return the loss of every state with no arm on top, (n_users, n_states)."""
    losses = projection_losses(np.nan_to_num(state.means), state.counts, orders)
    least: FloatArray = losses.min(axis=2)
    return least


def fit_of_states(
    orders: LatentOrders | UserOrders, state: State, sigma: float
) -> dict[str, FloatArray]:
    """Return, as columns, how well each state explains the rewards of the one user."""
    loss = state_losses(orders, state)[0]
    return {"loss": loss, "log-likelihood": (loss.min() - loss) / (2 * sigma**2)}


@kernel
def arm_losses(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, losses: Losses, variance: float
) -> FloatArray:
    """Return L(a) of every user and arm, inf where no state can have it on top."""
    out = np.empty(counts.shape)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        losses_on_top(counts, sums, u, some, losses, np.inf, variance, out[u])
    return out


@lean
def losses_on_top(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    allowed: BoolArray,
    losses: Losses,
    reach: float,
    tolerance: float,
    out: FloatArray,
) -> float:
    """Write L(a), inf if no item has arm a on top or it exceeds the least by ``reach``.

    Return the least. Bring the bounds of user ``u`` up to date.
    """
    row, slot = read_user(counts, sums, u, losses)
    if all_allowed(allowed):
        return losses_by_arm(row, slot, losses, reach, tolerance, out)
    catch_up(counts, sums, u, 1, row, slot, losses)
    return losses_among(row, slot, allowed, losses, reach, tolerance, out)


@lean
def losses_by_arm(
    row: int, slot: int, losses: Losses, reach: float, tolerance: float, out: FloatArray
) -> float:
    """Write L(a) where all arms are allowed, as `losses_on_top`.

    Of each arm's items, the one with the lowest bound is projected first, the others only if
    their bounds are lower.
    """
    items, b = losses.items, losses.bounds
    k = len(out)
    least = project_item(lowest(row, slot, 0, items.first[row, k], losses), row, slot, losses)
    for a in range(k):
        out[a] = np.inf
        lo, hi = items.first[row, a], items.first[row, a + 1]
        if lo == hi:
            continue
        first = lowest(row, slot, lo, hi, losses)
        if b.bound[slot, first] + items.penalty[items.state[row, first]] > least + reach:
            continue
        best = project_item(first, row, slot, losses)
        for i in range(lo, hi):
            bound = b.bound[slot, i] + items.penalty[items.state[row, i]]
            if best > 0.0 and bound < best + SLACK * (best + tolerance):
                best = min(best, project_item(i, row, slot, losses))
        out[a] = best
        least = min(least, best)
    return least


@lean
def losses_among(
    row: int,
    slot: int,
    allowed: BoolArray,
    losses: Losses,
    reach: float,
    tolerance: float,
    out: FloatArray,
) -> float:
    """Write L(a) where only some arms are allowed, as `losses_on_top`.

    A state's own loss is a bound of that with any arm on top. The state of the lowest bound comes
    first, others only if they can be within reach and better for one of their tops.
    """
    t, items, b, r = losses.tables, losses.items, losses.bounds, losses.memory
    m = t.kind.shape[1]
    out[:] = np.inf
    start, lowest_bound = 0, np.inf
    for s in range(m):
        bound = b.bound[slot, items.plain[row, s]] + items.penalty[s]
        if bound < lowest_bound:
            start, lowest_bound = s, bound
    least = np.inf
    for j in range(m):
        s = (start + j) % m
        i = items.plain[row, s]
        bound = b.bound[slot, i] + items.penalty[s]
        if bound == np.inf or bound > least + reach:
            continue
        tops = mark_tops(t, row, s, allowed, r.tops)
        if not improves(bound, tolerance, r.tops, out):
            continue
        loss = project_item(i, row, slot, losses)
        for a in range(len(out)):
            if r.tops[a] and loss < out[a]:
                if tops > 1:
                    on_top = project_among(row, s, a, allowed, losses) + items.penalty[s]
                    out[a] = min(out[a], on_top)
                else:
                    out[a] = loss
                least = min(least, out[a])
    return least


@lean
def improves(bound: float, tolerance: float, tops: BoolArray, out: FloatArray) -> bool:
    """Tell whether a loss of at least ``bound``, but for rounding, can be less for some top."""
    for a in range(len(out)):
        if tops[a] and (out[a] == np.inf or bound < out[a] + SLACK * (out[a] + tolerance)):
            return True
    return False


@lean
def read_user(counts: IntArray, sums: FloatArray, u: int, losses: Losses) -> tuple[int, int]:
    """Write the plays and means of user ``u``, nothing projected; bring the bounds up to date.

    Bounds of other orders start again. Return the rows of the user's items and bounds.
    """
    r = losses.memory
    row = u if losses.keys.shape[0] > 1 else 0
    slot = u if losses.kept else 0
    if losses.known[u] != losses.keys[row] or not losses.kept:
        for group in range(losses.bounds.seen_counts.shape[1]):
            forget(group, row, slot, losses)
    catch_up(counts, sums, u, 0, row, slot, losses)
    losses.known[u] = losses.keys[row]
    for a in range(counts.shape[1]):
        r.weight[a] = counts[u, a]
        r.mean[a] = sums[u, a] / counts[u, a] if counts[u, a] > 0 else 0.0
    r.projected[:] = False
    return row, slot


@lean
def group_range(group: int, row: int, items: Items) -> tuple[int, int]:
    """Return where the items of a group start and end: 0 with an arm on top, 1 without."""
    n_tops = items.first[row, items.first.shape[1] - 1]
    return (0, n_tops) if group == 0 else (n_tops, items.used[row])


@lean
def forget(group: int, row: int, slot: int, losses: Losses) -> None:
    """Start a user's bounds again: no reward covered, and 0 is a bound of every loss."""
    b = losses.bounds
    lo, hi = group_range(group, row, losses.items)
    b.bound[slot, lo:hi] = 0.0
    b.seen_counts[slot, group] = 0
    b.seen_sums[slot, group] = 0.0


@lean
def catch_up(
    counts: IntArray, sums: FloatArray, u: int, group: int, row: int, slot: int, losses: Losses
) -> None:
    """Carry a group's bounds over to the rewards that came since; O(items) per arm.

    Where bounds are not kept, 0 stays the bound of every loss.
    """
    b = losses.bounds
    if not losses.kept or group >= b.seen_counts.shape[1]:
        return
    lo, hi = group_range(group, row, losses.items)
    for a in range(counts.shape[1]):
        before, after = b.seen_counts[slot, group, a], counts[u, a]
        if after == before and sums[u, a] == b.seen_sums[slot, group, a]:
            continue
        if after <= before:  # not more rewards but other ones: start again
            forget(group, row, slot, losses)
            catch_up(counts, sums, u, group, row, slot, losses)
            return
        j = after - before
        new = (sums[u, a] - b.seen_sums[slot, group, a]) / j
        if before == 0:
            b.fit[slot, a, lo:hi] = new
        else:
            old = b.seen_sums[slot, group, a] / before
            carry_over(old, new, before, j, b.bound[slot, lo:hi], b.fit[slot, a, lo:hi])
        b.seen_counts[slot, group, a] = after
        b.seen_sums[slot, group, a] = sums[u, a]


@lean
def carry_over(
    old: float, new: float, before: int, j: int, bound: FloatArray, fit: FloatArray
) -> None:
    """Update all bounds for ``j`` more rewards of one arm, as in this module's opening lines."""
    step = j / (before + j)
    scale = before * step
    for i in range(bound.shape[0]):
        x = fit[i]
        bound[i] += scale * ((old - x) * (2.0 * new - x - old))
        fit[i] = x + step * (new - x)


@lean
def lowest(row: int, slot: int, lo: int, hi: int, losses: Losses) -> int:
    """Return the item from ``lo`` to ``hi`` with the lowest bound, its penalty included."""
    items, bound = losses.items, losses.bounds.bound
    best, least = lo, np.inf
    for i in range(lo, hi):
        value = bound[slot, i] + items.penalty[items.state[row, i]]
        if value < least:
            best, least = i, value
    return best


@lean
def project_item(i: int, row: int, slot: int, losses: Losses) -> float:
    """Project on item ``i``, unless that is done; its bound is then exact. Return its loss."""
    t, items, b, r = losses.tables, losses.items, losses.bounds, losses.memory
    state = items.state[row, i]
    if not r.projected[i]:
        top = items.arm[row, i]
        b.bound[slot, i] = fit_one(r.mean, r.weight, t, row, state, top, r.fit, r.scratch, r.flow)
        for a in range(r.fit.shape[0]):
            b.fit[slot, a, i] = r.fit[a]
        r.projected[i] = True
    return float(b.bound[slot, i] + items.penalty[state])


@lean
def project_among(row: int, state: int, top: int, allowed: BoolArray, losses: Losses) -> float:
    """Project on a state's order with ``top`` above all allowed arms; return the loss. O(k^3)."""
    r = losses.memory
    add_top(losses.tables, row, state, top, allowed, r.above)
    return split_dag(r.mean, r.weight, r.above, -1, r.fit, r.scratch, r.flow)


@lean
def add_top(
    t: OrderTables, row: int, state: int, top: int, allowed: BoolArray, out: BoolArray
) -> None:
    """Write the closure of a state's order with ``top`` above all allowed arms.

    Only what is at or above ``top`` gains relations: to all that is at or below an allowed arm.
    """
    k = allowed.shape[0]
    for b in range(k):
        for a in range(k):
            out[a, b] = t.kind[row, state] == DAG and t.above[row, state, a, b]
        if t.kind[row, state] != DAG:
            a = t.parent[row, state, b]
            while a >= 0:
                out[a, b] = True
                a = t.parent[row, state, a]
    for y in range(k):
        under = allowed[y] and y != top
        for b in range(k):
            under |= allowed[b] and b != top and out[b, y]
        if under:
            for x in range(k):
                out[x, y] |= x == top or out[x, top]
