"""Bounds on the losses of projections, so that few need to be done.

Write F(mu) = sum_a N_a (mu_a - m_a)^2 for one user's plays N and means m. An item i is a state
with one of its maximal arms on top, or with none; C_i is its closed cone, and its loss the least F
on it. A projection x of m on a convex cone has F(mu) >= F(x) + sum_a N_a (mu_a - x_a)^2 there.
So if ``lower`` = F(x) when the item was last projected, and later j rewards with mean r arrive
for arm a with n plays and mean y before, minimising over each arm alone leaves a valid bound,
and x itself, which is in the cone, gives one from above:

    lower += n j / (n + j) ((r - x_a)^2 - (r - y)^2),   x_a += j / (n + j) (r - x_a)
    upper += j (r - x_a)^2 - n j / (n + j) (r - y)^2,   x_a as it was projected.

Both cost O(1) per item and reward. Policies that need no bounds from above keep none.

The candidates of an arm are the items whose loss it may have on top: where all arms are allowed,
the states that it tops, with it on top. Where only some are, the states in whose order it is
maximal among these, with none on top: an arm above all other allowed ones binds nothing, so the
loss is the state's own; if several are maximal, that is still a bound from below.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits._jit import NONE, ONE, ZERO, Plain, lean, part, unnamed
from lobandits.orders import DAG, LatentOrders, OrderTables, UserOrders
from lobandits.policies.choices import all_allowed, list_tops
from lobandits.policies.state import State, array, empty_state
from lobandits.projection.kernels import fit_one
from lobandits.projection.mincut import split_dag
from lobandits.projection.scratch import Scratch, make_scratch

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
    groups: int  # 2 if some items have no arm on top, else 1


class Bounds(NamedTuple):
    """What is known of every user's items since they were last projected.

    Items with and without an arm on top are two groups: the second is seldom brought up to date.
    """

    lower: FloatArray  # (n_users, n_items)
    upper: FloatArray  # (n_users, n_items), or (n_users, 0) where none are kept
    carried: FloatArray  # (n_users, k, n_items): the x of ``lower``; items last, for SIMD
    point: FloatArray  # (n_users, k, n_items or 0): the x of ``upper``, the last projection
    seen_counts: IntArray  # (n_users, groups, k): the plays that the bounds cover
    seen_sums: FloatArray  # (n_users, groups, k): their rewards


class Memory(NamedTuple):
    """Working memory for one user."""

    mean: FloatArray  # (k,)
    weight: FloatArray  # (k,)
    fit: FloatArray  # (k,): the last projection
    projected: BoolArray  # (n_items,)
    least: FloatArray  # (k,): of each arm's weight, what it is at least
    most: FloatArray  # (k,): and at most
    above: BoolArray  # (k, k)
    listed: IntArray  # (2,): whose orders the candidates are of, -1 for none; of how many arms
    among: BoolArray  # (k,): the choice set that they are of
    arms: IntArray  # (k,): its arms
    tops: IntArray  # (c,): the maximal arms of one state, or of all
    source: IntArray  # (c,): their states s; -1 - s if there are other maximal arms
    first: IntArray  # (k + 1,): those of arm a are first[a] ... first[a + 1] - 1
    item: IntArray  # (c,): their items
    several: BoolArray  # (c,): whether the state has other maximal arms


class Losses(NamedTuple):
    """Orders, their items and bounds, and what the bounds were derived from."""

    tables: OrderTables
    items: Items
    bounds: Bounds
    memory: Memory
    scratch: Scratch
    kept: bool  # False: the bounds are memory for one user, and start again for each
    known: IntArray  # (n_users,): names the orders behind each user's bounds
    keys: IntArray  # (u,): names the orders now


@dataclass(eq=False, repr=False)
class LossState(State):
    """Rewards, and bounds that save projections: see `Bounds` and `Losses`."""

    known: IntArray = field(metadata=array("cache", ages="renew"))
    lower: FloatArray = field(metadata=array("cache", "items", dtype=np.float64, ages="scale"))
    upper: FloatArray = field(metadata=array("cache", "uppers", dtype=np.float64, ages="scale"))
    carried: FloatArray = field(metadata=array("cache", "arms", "items", dtype=np.float64))
    point: FloatArray = field(metadata=array("cache", "arms", "uppers", dtype=np.float64))
    seen_counts: IntArray = field(metadata=array("cache", "groups", "arms", ages="scale"))
    seen_sums: FloatArray = field(
        metadata=array("cache", "groups", "arms", dtype=np.float64, ages="scale")
    )

    def __post_init__(self) -> None:
        self.opened: tuple[Losses, Plain] | None = None  # kept since making it takes time


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
    groups = 1 + int(several.any())
    return Items(
        state=read_only(state),
        arm=read_only(arm),
        first=read_only(first),
        plain=read_only(plain),
        used=read_only(used),
        penalty=read_only(penalty),
        groups=groups,
    )


def new_state(kind: type[L], n_users: int, n_arms: int, items: Items, uppers: bool = False) -> L:
    """Return an empty state, without bounds if these would take too much memory."""
    if (1 + uppers) * n_users * items.state.shape[1] * n_arms > CACHE_LIMIT:
        return state_without_bounds(kind, n_users, n_arms)
    return state_with_bounds(kind, n_users, n_arms, items, uppers)


def state_with_bounds(kind: type[L], n_users: int, n_arms: int, items: Items, uppers: bool) -> L:
    """Return an empty state with bounds for all items."""
    n_items = items.state.shape[1]
    sizes = {"items": n_items, "uppers": n_items if uppers else 0, "groups": items.groups}
    return empty_state(kind, n_users, arms=n_arms, **sizes)


def state_without_bounds(kind: type[L], n_users: int, n_arms: int) -> L:
    """Return an empty state for which every decision starts anew."""
    return empty_state(kind, n_users, arms=n_arms, items=0, uppers=0, groups=0)


def open_losses(
    orders: LatentOrders | UserOrders,
    items: Items,
    keys: IntArray,
    state: LossState,
    uppers: bool = False,
) -> tuple[Losses, Plain]:
    """Return what `losses_on_top` needs of a state, and the same without names, for kernels.

    A state that lacks an item or a group, as one made for other orders may, keeps no bounds.
    """
    if state.opened is None or state.opened[0].items is not items:
        n_items = items.state.shape[1]
        kept = (
            state.lower.shape[1] >= n_items
            and state.seen_counts.shape[1] >= items.groups
            and (state.upper.shape[1] >= n_items or not uppers)
        )
        s = state if kept else state_with_bounds(LossState, 1, state.n_arms, items, uppers)
        bounds = Bounds(s.lower, s.upper, s.carried, s.point, s.seen_counts, s.seen_sums)
        memory, scratch = make_memory(orders.tables, items), make_scratch(state.n_arms)
        losses = Losses(orders.tables, items, bounds, memory, scratch, kept, state.known, keys)
        state.opened = losses, unnamed(losses)
    return state.opened


@part
def name_losses(p: Plain) -> Losses:
    """Return what `unnamed` made of `Losses`, inside a lean kernel: no reference is counted."""
    tables, items, bounds = OrderTables(*p[0]), Items(*p[1]), Bounds(*p[2])
    return Losses(tables, items, bounds, Memory(*p[3]), Scratch(*p[4]), p[5], p[6], p[7])


def make_memory(tables: OrderTables, items: Items) -> Memory:
    """Allocate the working memory for one user."""
    m, k = tables.maximal.shape[1:]
    n_items = items.state.shape[1]
    most = max(n_items, m * k)
    return Memory(
        mean=np.empty(k),
        weight=np.empty(k),
        fit=np.empty(k),
        projected=np.empty(n_items, np.bool_),
        least=np.empty(k),
        most=np.empty(k),
        above=np.empty((k, k), np.bool_),
        listed=np.full(2, -1),
        among=np.empty(k, np.bool_),
        arms=np.empty(k, np.int64),
        tops=np.empty(most, np.int64),
        source=np.empty(most, np.int64),
        first=np.empty(k + 1, np.int64),
        item=np.empty(most, np.int64),
        several=np.empty(most, np.bool_),
    )


@part
def read_user(
    counts: IntArray, sums: FloatArray, u: int, allowed: BoolArray, losses: Losses
) -> tuple[int, int, bool]:
    """Write the plays and means of user ``u``, nothing projected; list the arms' candidates.

    Their bounds are brought up to date; those of other orders start again. Return the rows of the
    user's items and bounds, and whether all arms are allowed.
    """
    items, r = losses.items, losses.memory
    row = u if losses.keys.shape[0] > 1 else 0
    slot = u if losses.kept else 0
    if losses.known[u] != losses.keys[row] or not losses.kept:
        for group in range(losses.bounds.seen_counts.shape[1]):
            forget(group, row, slot, losses)
        losses.known[u] = losses.keys[row]
    everything = all_allowed(allowed)
    plain = items.used[row] - items.first[row, items.first.shape[1] - 1]
    if everything or plain < items.plain.shape[1]:  # or some state has one maximal arm
        catch_up(counts, sums, u, ZERO, row, slot, losses)
    if not everything:
        catch_up(counts, sums, u, ONE, row, slot, losses)
    list_candidates(row, allowed, everything, losses)
    for a in range(counts.shape[1]):
        r.weight[a] = counts[u, a]
        r.mean[a] = sums[u, a] / counts[u, a] if counts[u, a] > 0 else 0.0
    r.projected[:] = False
    return row, slot, everything


@part
def list_candidates(row: int, allowed: BoolArray, everything: bool, losses: Losses) -> None:
    """List every arm's candidates, as this module opens; O(items + k), O(m k) among some arms.

    Users who come one after the other mostly share the list.
    """
    r, same, n = losses.memory, losses.memory.listed[0] == row, 0
    for a in range(allowed.shape[0]):
        same &= allowed[a] == r.among[a]
    if same:
        return
    for a in range(allowed.shape[0]):
        r.among[a] = allowed[a]
        if allowed[a]:
            r.arms[n] = a
            n += 1
    r.listed[0] = row
    r.listed[1] = n
    if everything:
        for a in range(r.first.shape[0]):
            r.first[a] = losses.items.first[row, a]
        for j in range(r.first[r.first.shape[0] - 1]):
            r.item[j] = j
            r.several[j] = False
    else:
        list_states(row, allowed, losses)


@lean
def list_states(row: int, allowed: BoolArray, losses: Losses) -> None:
    """List the states without an arm on top by their maximal allowed arms: a counting sort."""
    t, items, r = losses.tables, losses.items, losses.memory
    arms, n = r.arms[: r.listed[1]], 0
    r.first[:] = 0
    for s in range(items.plain.shape[1]):
        found = list_tops(t, row, s, allowed, arms, r.tops[n:])
        for j in range(n, n + found):
            r.first[r.tops[j]] += 1
            r.source[j] = s if found == 1 else -1 - s
        n += found
    for a in range(allowed.shape[0]):
        r.first[a + 1] += r.first[a]
    for j in range(n - 1, -1, -1):  # first[a] goes from the end of a's list to its start
        r.first[r.tops[j]] -= 1
        place, s = r.first[r.tops[j]], r.source[j]
        r.item[place] = items.plain[row, s if s >= 0 else -1 - s]
        r.several[place] = s < 0


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
    b.lower[slot, lo:hi] = 0.0
    b.upper[slot, lo:hi] = np.inf
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
            b.carried[slot, a, lo:hi] = new
            b.upper[slot, lo:hi] = np.inf
        else:
            old = b.seen_sums[slot, group, a] / before
            raise_lower(old, new, before, j, b.lower[slot, lo:hi], b.carried[slot, a, lo:hi])
            raise_upper(old, new, before, j, b.upper[slot, lo:hi], b.point[slot, a, lo:hi])
        b.seen_counts[slot, group, a] = after
        b.seen_sums[slot, group, a] = sums[u, a]


@lean
def raise_lower(
    old: float, new: float, before: int, j: int, lower: FloatArray, carried: FloatArray
) -> None:
    """Update the lower bounds for ``j`` more rewards of one arm, as this module opens."""
    step = j / (before + j)
    scale = before * step
    for i in range(lower.shape[0]):
        x = carried[i]
        lower[i] += scale * ((old - x) * (2.0 * new - x - old))
        carried[i] = x + step * (new - x)


@lean
def raise_upper(
    old: float, new: float, before: int, j: int, upper: FloatArray, point: FloatArray
) -> None:
    """Update the upper bounds for ``j`` more rewards of one arm, as this module opens."""
    spread = before * j / (before + j) * (new - old) * (new - old)
    for i in range(upper.shape[0]):
        upper[i] += j * (new - point[i]) * (new - point[i]) - spread


@part
def lowest(row: int, slot: int, lo: int, hi: int, losses: Losses) -> int:
    """Return the candidate from ``lo`` to ``hi`` with the lowest bound, its penalty included."""
    best, least = lo, np.inf
    for j in range(lo, hi):
        value = lower_bound(j, row, slot, losses)
        if value < least:
            best, least = j, value
    return best


@part
def lower_bound(j: int, row: int, slot: int, losses: Losses) -> float:
    """Return what the loss of candidate ``j`` is at least, its penalty included."""
    items, i = losses.items, losses.memory.item[j]
    return float(losses.bounds.lower[slot, i] + items.penalty[items.state[row, i]])


@part
def project_item(i: int, row: int, slot: int, losses: Losses) -> float:
    """Project on item ``i``, unless that is done; its bound is then exact. Return its loss."""
    t, items, b, r = losses.tables, losses.items, losses.bounds, losses.memory
    state = items.state[row, i]
    if not r.projected[i]:
        top = items.arm[row, i]
        loss = fit_one(r.mean, r.weight, t, row, state, top, r.fit, losses.scratch)
        b.lower[slot, i] = loss
        uppers = b.upper.shape[1] > 0
        if uppers:
            b.upper[slot, i] = loss
        for a in range(r.fit.shape[0]):
            if r.weight[a] > 0.0:  # of other arms it is not written, and never read
                b.carried[slot, a, i] = r.fit[a]
                if uppers:
                    b.point[slot, a, i] = r.fit[a]
        r.projected[i] = True
    return float(b.lower[slot, i] + items.penalty[state])


@lean
def project_among(row: int, state: int, top: int, allowed: BoolArray, losses: Losses) -> float:
    """Project on a state's order with ``top`` above all allowed arms; return the loss. O(k^3)."""
    r = losses.memory
    add_top(losses.tables, row, state, top, allowed, r.above)
    return split_dag(r.mean, r.weight, r.above, NONE, r.fit, losses.scratch)


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
