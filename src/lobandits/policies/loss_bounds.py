"""Bounds on the losses of projections, so that few need to be done.

Write F(mu) = sum_a N_a (mu_a - m_a)^2 for one user's plays N and means m; the loss of an item
(`loss_items`) is the least F on its cone. A projection x of m on a convex cone has
F(mu) >= F(x) + sum_a N_a (mu_a - x_a)^2 there. So if ``lower`` = F(x) when the item was last
projected, and later j rewards with mean r arrive for arm a with n plays and mean y before,
minimising over each arm alone leaves a valid bound, and x itself, which is in the cone, gives one
from above:

    lower += n j / (n + j) ((r - x_a)^2 - (r - y)^2),   x_a += j / (n + j) (r - x_a)
    upper += j (r - x_a)^2 - n j / (n + j) (r - y)^2,   x_a as it was projected.

Both cost O(1) per item and reward. Policies that need no bounds from above keep none.
"""

from dataclasses import dataclass, field
from threading import local
from typing import NamedTuple, TypeVar

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import NONE, ONE, ZERO, Plain, lean, part, unnamed
from lobandits.orders import DAG, LatentOrders, OrderTables, UserOrders
from lobandits.policies.choices import all_allowed
from lobandits.policies.loss_items import (
    Candidates,
    Items,
    group_range,
    list_candidates,
    make_candidates,
    make_items,
)
from lobandits.policies.state import State, array, empty_state
from lobandits.projection.kernels import fit_one
from lobandits.projection.mincut import split_dag
from lobandits.projection.scratch import Scratch, make_scratch

CACHE_LIMIT = 2**26  # numbers kept as bounds (512 MB); above that every state is projected


class Bounds(NamedTuple):
    """What is known of every user's items since they were last projected.

    Items with and without an arm on top are two groups: the second is seldom brought up to date.
    """

    lower: FloatArray  # (n_users, n_items)
    upper: FloatArray  # (n_users, n_items), or (n_users, 0) where none are kept
    carried: FloatArray  # (n_users, k n_items): the x of ``lower``, see `cell`
    point: FloatArray  # (n_users, k n_items or 0): the x of ``upper``, the last projection
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


class Losses(NamedTuple):
    """Orders, their items and bounds, and what the bounds were derived from."""

    tables: OrderTables
    items: Items
    bounds: Bounds
    candidates: Candidates
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
    carried: FloatArray = field(metadata=array("cache", "cells", dtype=np.float64))
    point: FloatArray = field(metadata=array("cache", "upper_cells", dtype=np.float64))
    seen_counts: IntArray = field(metadata=array("cache", "groups", "arms", ages="scale"))
    seen_sums: FloatArray = field(
        metadata=array("cache", "groups", "arms", dtype=np.float64, ages="scale")
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.opened: tuple[Losses, Plain] | None = None  # kept since making it takes time


class OneUser(local):
    """The bounds of one user, by thread: kernels work beside each other."""

    opened: tuple[Losses, Plain] | None = None


L = TypeVar("L", bound=LossState)
KNOWN = Losses._fields.index("known")


class LossBounds:
    """The bounds that one policy keeps: makes states with them, and opens these for kernels.

    Parameters
    ----------
    orders, keys
        The orders of the states, and the number by which each user's orders are known.
    penalty
        By state, what its losses have on top: 2 sigma^2 log(largest p / p(s)).
    uppers
        Whether bounds from above are kept too.
    """

    def __init__(
        self,
        orders: LatentOrders | UserOrders,
        keys: IntArray,
        penalty: FloatArray,
        uppers: bool = False,
    ) -> None:
        self.tables, self.keys, self.uppers = orders.tables, keys, uppers
        self.items = make_items(orders, penalty)
        self._memory = OneUser()

    def new_state(self, kind: type[L], n_users: int) -> L:
        """Return an empty state, without bounds if these would take too much memory."""
        size = (1 + self.uppers) * n_users * self.items.state.shape[1] * self.n_arms
        if size > CACHE_LIMIT:
            return self.one_time_state(kind, n_users)
        return self._sized_state(kind, n_users, self.items.state.shape[1], self.items.groups)

    def one_time_state(self, kind: type[L], n_users: int) -> L:
        """Return an empty state without bounds: every decision starts anew."""
        return self._sized_state(kind, n_users, 0, 0)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(self.tables.sequence.shape[2])

    def _sized_state(self, kind: type[L], n_users: int, items: int, groups: int) -> L:
        """Return an empty state with bounds for so many items."""
        k, uppers = self.n_arms, items if self.uppers else 0
        cells = {"cells": k * items, "upper_cells": k * uppers}
        return empty_state(
            kind, n_users, arms=k, items=items, uppers=uppers, groups=groups, **cells
        )

    def open(self, state: LossState) -> tuple[Losses, Plain]:
        """Return what the kernels of losses need of a state, and the same without names.

        A state that lacks an item or a group, as one made for other orders may, keeps no bounds.
        """
        if state.opened is not None and state.opened[0].items is self.items:
            return state.opened
        n = self.items.state.shape[1]
        if (
            state.lower.shape[1] >= n
            and state.seen_counts.shape[1] >= self.items.groups
            and (state.upper.shape[1] >= n or not self.uppers)
        ):
            state.opened = self._open(state, kept=True)
            return state.opened
        return self._open_without(state)

    def _open_without(self, state: LossState) -> tuple[Losses, Plain]:
        """Open a state without bounds: those of one user are memory that a thread uses again."""
        if self._memory.opened is None:
            spare = self._sized_state(LossState, 1, self.items.state.shape[1], self.items.groups)
            self._memory.opened = self._open(spare, kept=False)
        losses, plain = self._memory.opened
        before, after = plain[:KNOWN], plain[KNOWN + 1 :]
        return losses._replace(known=state.known), (*before, state.known, *after)

    def _open(self, state: LossState, kept: bool) -> tuple[Losses, Plain]:
        losses = Losses(
            tables=self.tables,
            items=self.items,
            bounds=Bounds(
                state.lower,
                state.upper,
                state.carried,
                state.point,
                state.seen_counts,
                state.seen_sums,
            ),
            candidates=make_candidates(self.tables, self.items),
            memory=make_memory(self.n_arms, self.items.state.shape[1]),
            scratch=make_scratch(self.n_arms),
            kept=kept,
            known=state.known,
            keys=self.keys,
        )
        return losses, unnamed(losses)


@part
def name_losses(p: Plain) -> Losses:
    """Return what `unnamed` made of `Losses`, inside a lean kernel: no reference is counted."""
    tables, items, bounds = OrderTables(*p[0]), Items(*p[1]), Bounds(*p[2])
    lists, memory, scratch = Candidates(*p[3]), Memory(*p[4]), Scratch(*p[5])
    return Losses(tables, items, bounds, lists, memory, scratch, p[6], p[7], p[8])


def make_memory(k: int, n_items: int) -> Memory:
    """Allocate the working memory for one user."""
    return Memory(
        mean=np.empty(k),
        weight=np.empty(k),
        fit=np.empty(k),
        projected=np.empty(n_items, np.bool_),
        least=np.empty(k),
        most=np.empty(k),
        above=np.empty((k, k), np.bool_),
    )


@part
def read_user(
    counts: IntArray, sums: FloatArray, u: int, allowed: BoolArray, losses: Losses
) -> tuple[int, int, bool]:
    """Write the plays and means of user ``u``, nothing projected; list the arms' candidates.

    Their bounds are brought up to date; those of other orders start again. Return the rows of the
    user's items and bounds, and whether all arms are allowed.
    """
    items, b, r = losses.items, losses.bounds, losses.memory
    row = u if losses.keys.shape[0] > 1 else 0
    slot = u if losses.kept else 0
    anew = losses.known[u] != losses.keys[row] or not losses.kept
    losses.known[u] = losses.keys[row]
    everything = all_allowed(allowed)
    plain = items.used[row] - items.first[row, items.first.shape[1] - 1]
    some_single = plain < items.plain.shape[1]  # some state has one maximal arm
    for group in range(b.seen_counts.shape[1]):
        lo, hi = group_range(group, row, items)
        if anew:
            forget(group, lo, hi, slot, b)
        needed = everything or some_single if group == 0 else not everything
        if needed and losses.kept:  # else 0 stays the bound of every loss
            catch_up(counts, sums, u, group, lo, hi, slot, b)
    list_candidates(row, allowed, everything, losses.tables, items, losses.candidates)
    for a in range(counts.shape[1]):
        r.weight[a] = counts[u, a]
        r.mean[a] = sums[u, a] / (counts[u, a] if counts[u, a] > 0 else 1)  # without a branch
    r.projected[:] = False
    return row, slot, everything


@part
def cell(a: int, i: int, row: int, items: Items) -> int:
    """Return where a user's x_a of item ``i`` is kept.

    All items of an arm lie side by side, for SIMD, and so do all arms of a group, which then need
    no more of the processor's cache than the group's own size.
    """
    k = items.first.shape[1] - 1
    lo, hi = group_range(ONE if i >= items.first[row, k] else ZERO, row, items)
    return int(k * lo + a * (hi - lo) + i - lo)


@lean
def forget(group: int, lo: int, hi: int, slot: int, b: Bounds) -> None:
    """Start the bounds of a group's items again: no reward covered, and 0 is below every loss."""
    b.lower[slot, lo:hi] = 0.0
    b.upper[slot, lo:hi] = np.inf
    b.seen_counts[slot, group] = 0
    b.seen_sums[slot, group] = 0.0


@lean
def catch_up(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    group: int,
    lo: int,
    hi: int,
    slot: int,
    b: Bounds,
) -> None:
    """Carry the bounds of a group's items over to the rewards that came since; O(items) per arm."""
    k = counts.shape[1]
    for a in range(k):
        before, after = b.seen_counts[slot, group, a], counts[u, a]
        if after == before and sums[u, a] == b.seen_sums[slot, group, a]:
            continue
        if after <= before:  # not more rewards but other ones: start again
            forget(group, lo, hi, slot, b)
            catch_up(counts, sums, u, group, lo, hi, slot, b)
            return
        j = after - before
        new = (sums[u, a] - b.seen_sums[slot, group, a]) / j
        start = k * lo + a * (hi - lo)
        end = start + hi - lo
        if before == 0:
            b.carried[slot, start:end] = new
            b.upper[slot, lo:hi] = np.inf
        else:
            old = b.seen_sums[slot, group, a] / before
            raise_lower(old, new, before, j, b.lower[slot, lo:hi], b.carried[slot, start:end])
            raise_upper(old, new, before, j, b.upper[slot, lo:hi], b.point[slot, start:end])
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
def lowest(row: int, slot: int, item: IntArray, lo: int, hi: int, losses: Losses) -> int:
    """Return which of the candidates ``lo`` to ``hi`` has the lowest bound, its penalty included.

    ``item`` has the items of all candidates.
    """
    best, least = lo, np.inf
    for j in range(lo, hi):
        value = lower_bound(item[j], row, slot, losses)
        if value < least:
            best, least = j, value
    return best


@part
def lower_bound(i: int, row: int, slot: int, losses: Losses) -> float:
    """Return what the loss of item ``i`` is at least, its penalty included."""
    items = losses.items
    return float(losses.bounds.lower[slot, i] + items.penalty[items.state[row, i]])


@lean
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
                place = cell(a, i, row, items)
                b.carried[slot, place] = r.fit[a]
                if uppers:
                    b.point[slot, place] = r.fit[a]
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
