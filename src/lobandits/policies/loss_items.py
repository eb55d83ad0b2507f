"""Items: the cones that may be projected on, and which of them may give an arm its loss.

An item is a state with one of its maximal arms on top, or with none. The candidates of an arm are
the items whose loss it may have on top: where all arms are allowed, the states that it tops, with
it on top. Where only some are, the states in whose order it is maximal among these, with none on
top: an arm above all other allowed ones binds nothing, so the loss is the state's own; if several
are maximal, that is still a bound from below.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only
from lobandits.basics.kernel import lean, part
from lobandits.orders import LatentOrders, OrderTables, UserOrders
from lobandits.policies.choices import list_tops

LISTS = 8  # choice sets whose candidates are kept: users who come together share a few


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


class Candidates(NamedTuple):
    """The candidates of all arms, listed for some choice sets."""

    now: IntArray  # (2,): the list in use, and the one that is written next
    row: IntArray  # (LISTS,): whose orders a list is of, -1 for none
    among: BoolArray  # (LISTS, k): its choice set
    n_arms: IntArray  # (LISTS,): how many arms that has
    arms: IntArray  # (LISTS, k): which
    first: IntArray  # (LISTS, k + 1): the candidates of arm a are first[a] ... first[a + 1] - 1
    item: IntArray  # (LISTS, c): their items
    several: BoolArray  # (LISTS, c): whether the item's state has other maximal allowed arms
    tops: IntArray  # (c,), working memory: the maximal arms of one state, or of all
    source: IntArray  # (c,), working memory: their states s; -1 - s if there are several


class Listed(NamedTuple):
    """The candidates of one choice set, as `Candidates` lists them."""

    arms: IntArray
    first: IntArray
    item: IntArray
    several: BoolArray


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


def make_candidates(tables: OrderTables, items: Items) -> Candidates:
    """Allocate the lists; none is made yet."""
    m, k = tables.maximal.shape[1:]
    most = max(items.state.shape[1], m * k)
    return Candidates(
        now=np.zeros(2, np.int64),
        row=np.full(LISTS, -1),
        among=np.empty((LISTS, k), np.bool_),
        n_arms=np.empty(LISTS, np.int64),
        arms=np.empty((LISTS, k), np.int64),
        first=np.empty((LISTS, k + 1), np.int64),
        item=np.empty((LISTS, most), np.int64),
        several=np.empty((LISTS, most), np.bool_),
        tops=np.empty(most, np.int64),
        source=np.empty(most, np.int64),
    )


@part
def listed(c: Candidates) -> Listed:
    """Return the list in use."""
    i = c.now[0]
    return Listed(c.arms[i, : c.n_arms[i]], c.first[i], c.item[i], c.several[i])


@part
def list_candidates(
    row: int, allowed: BoolArray, everything: bool, tables: OrderTables, items: Items, c: Candidates
) -> None:
    """Take the list of a choice set in use; mostly it is already, which costs O(k)."""
    if not is_listed(c.now[0], row, allowed, c.row, c.among):
        i = find_list(row, allowed, c.row, c.among)
        if i < 0:
            write_list(row, allowed, everything, tables, items, c)
        else:
            c.now[0] = i


@part
def is_listed(i: int, row: int, allowed: BoolArray, rows: IntArray, among: BoolArray) -> bool:
    """Tell whether list ``i`` is of this choice set and of the orders in this row."""
    same = rows[i] == row
    for a in range(allowed.shape[0]):
        same &= allowed[a] == among[i, a]
    return bool(same)


@lean
def find_list(row: int, allowed: BoolArray, rows: IntArray, among: BoolArray) -> int:
    """Return the list of a choice set, -1 if there is none."""
    for i in range(rows.shape[0]):
        if rows[i] == row and is_listed(i, row, allowed, rows, among):
            return i
    return -1


@lean
def write_list(
    row: int, allowed: BoolArray, everything: bool, tables: OrderTables, items: Items, c: Candidates
) -> None:
    """List every arm's candidates over the oldest list; O(items + k), among some arms O(m k)."""
    i, n = c.now[1], 0
    c.now[0] = i
    c.now[1] = (i + 1) % LISTS
    c.row[i] = row
    for a in range(allowed.shape[0]):
        c.among[i, a] = allowed[a]
        if allowed[a]:
            c.arms[i, n] = a
            n += 1
    c.n_arms[i] = n
    if not everything:
        list_states(row, allowed, tables, items, listed(c), c.tops, c.source)
        return
    for a in range(c.first.shape[1]):
        c.first[i, a] = items.first[row, a]
    for j in range(items.first[row, items.first.shape[1] - 1]):
        c.item[i, j] = j
        c.several[i, j] = False


@part
def list_states(
    row: int,
    allowed: BoolArray,
    tables: OrderTables,
    items: Items,
    told: Listed,
    tops: IntArray,
    source: IntArray,
) -> None:
    """List the states without an arm on top by their maximal allowed arms: a counting sort."""
    n = 0
    told.first[:] = 0
    for s in range(items.plain.shape[1]):
        found = list_tops(tables, row, s, allowed, told.arms, tops[n:])
        for j in range(n, n + found):
            told.first[tops[j]] += 1
            source[j] = s if found == 1 else -1 - s
        n += found
    for a in range(allowed.shape[0]):
        told.first[a + 1] += told.first[a]
    for j in range(n - 1, -1, -1):  # first[a] goes from the end of a's list to its start
        told.first[tops[j]] -= 1
        place, s = told.first[tops[j]], source[j]
        told.item[place] = items.plain[row, s if s >= 0 else -1 - s]
        told.several[place] = s < 0


@part
def group_range(group: int, row: int, items: Items) -> tuple[int, int]:
    """Return where the items of a group start and end: 0 with an arm on top, 1 without."""
    n_tops = items.first[row, items.first.shape[1] - 1]
    return (0, n_tops) if group == 0 else (n_tops, items.used[row])
