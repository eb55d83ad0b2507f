r"""Steps 1 to 4 of LobIDS: hypotheses, their weights, and their means.

A hypothesis h is an item of :mod:`lobandits.policies.bounded`: a state with one of its maximal arms
on top. Its weight with the slope beta is

.. math:: p(h, \beta) \propto e^{-L_h / (2 \sigma^2)} \,
    \mathrm{ev}(h, \beta) / |\mathrm{Max}(s_h)|,

mixed with a floor on all hypotheses that are at most log t of log-likelihood below the best.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray
from lobandits._jit import lean
from lobandits.orders import OrderTables
from lobandits.policies.bounded import Bounds, Items, Room, make_room
from lobandits.policies.conditional import put_in_order, raise_above
from lobandits.policies.directed import Split, add_hypothesis, make_split
from lobandits.policies.positions import place_arms
from lobandits.policies.working import (
    N_SLOPES,
    Working,
    log_evidence,
    make_working,
    posterior_of_groups,
    recall_sums,
    shrink,
    sum_groups,
)

DROP = 40.0  # of log-likelihood below the best, beyond which a hypothesis is dropped
FLOOR = 0.2  # the largest share of the floor, which is FLOOR_ROUNDS / t later on
FLOOR_ROUNDS = 3.0
CUT = 1e-2  # of the floor's share for one hypothesis: lighter slopes are left out
LIGHTEST = -30.0  # log-weight of a slope, relative to the hypothesis's best


class Case(NamedTuple):
    """One user in one round."""

    row: int  # of the user's orders
    slot: int  # the row of the user's bounds
    n_items: int
    least: float  # the least loss
    scale: float  # 2 sigma^2
    low: float  # the lowest average
    unit: float  # the range of the averages plus sigma
    now: float  # t, one more than the plays


class Desk(NamedTuple):
    """Working memory for one user, h hypotheses and b slopes."""

    room: Room
    working: Working
    split: Split
    weight: FloatArray  # (h, b): relative to each hypothesis's own best slope
    first: FloatArray  # (h, b): S_1 of its first group
    gap: FloatArray  # (h,): log-likelihood below the best, inf if dropped
    peak: FloatArray  # (h,): the log-weight of its best slope, -inf if dropped
    share: FloatArray  # (h,): the weight of its best slope
    mean: FloatArray  # (k,)
    variance: FloatArray  # (k,)
    ordered: FloatArray  # (k,)
    inverse: FloatArray  # (k,)


def make_desk(k: int, n_items: int) -> Desk:
    """Allocate the working memory for ``k`` arms and ``n_items`` hypotheses."""
    by_arm = [np.empty(k) for _ in range(4)]
    by_item = [np.empty(n_items) for _ in range(3)]
    tables = [np.zeros((n_items, N_SLOPES)) for _ in range(2)]
    return Desk(make_room(k, n_items), make_working(k), make_split(k), *tables, *by_item, *by_arm)


@lean
def read_hypothesis(
    i: int, t: OrderTables, items: Items, b: Bounds, case: Case, plays: FloatArray, w: Working
) -> int:
    """Write the fit and the positions of hypothesis i; return how many groups it has."""
    for a in range(plays.shape[0]):
        w.fit[a] = 0.0
        if plays[a] > 0.0:
            w.fit[a] = (b.fit[case.slot, i, a] - case.low) / case.unit
    return place_arms(t, case.row, items.state[case.row, i], w.z, w.group, w.below)


@lean
def weigh_hypotheses(t: OrderTables, items: Items, b: Bounds, case: Case, desk: Desk) -> None:
    """Write each hypothesis's weights relative to its best slope, and that one's log-weight."""
    w, plays = desk.working, desk.room.weight
    for i in range(case.n_items):
        gap = (b.bound[case.slot, i] - case.least) / case.scale
        if not desk.room.projected[i] or gap > DROP:
            desk.gap[i] = np.inf
            desk.peak[i] = -np.inf
            continue
        n_groups = read_hypothesis(i, t, items, b, case, plays, w)
        sum_groups(plays, n_groups, w)
        best = log_evidence(n_groups, w, desk.weight[i])
        for j in range(N_SLOPES):
            desk.first[i, j] = w.s1[0, j]
            log = desk.weight[i, j] - best
            desk.weight[i, j] = np.exp(log) if log > LIGHTEST else 0.0
        tops = 0.0
        for a in range(plays.shape[0]):
            tops += t.maximal[case.row, items.state[case.row, i], a]
        desk.gap[i] = gap
        desk.peak[i] = best - gap - np.log(tops)


@lean
def share_weight(case: Case, desk: Desk) -> float:
    """Write the shares, so that p(h, beta) = ``share[h] * weight[h, beta]``; return the cut."""
    reach = np.log(case.now)
    highest = -np.inf
    near = 0
    for i in range(case.n_items):
        highest = max(highest, desk.peak[i])
        near += desk.gap[i] <= reach
    total = 0.0
    for i in range(case.n_items):
        desk.share[i] = np.exp(desk.peak[i] - highest)
        if desk.share[i] > 0.0:
            total += desk.share[i] * sum_of(desk.weight[i])
    floor = min(FLOOR, FLOOR_ROUNDS / case.now)
    for i in range(case.n_items):
        desk.share[i] *= (1.0 - floor) / total
        if desk.gap[i] <= reach:
            desk.share[i] += floor / near / sum_of(desk.weight[i])
    return CUT * floor / near


@lean
def sum_of(values: FloatArray) -> float:
    """Return the sum, from the first to the last."""
    total = 0.0
    for j in range(values.shape[0]):
        total += values[j]
    return total


@lean
def add_hypotheses(
    cut: float, t: OrderTables, items: Items, b: Bounds, case: Case, desk: Desk
) -> None:
    """Add the means of every hypothesis under every slope that is no lighter than ``cut``."""
    w, plays = desk.working, desk.room.weight
    for i in range(case.n_items):
        if desk.share[i] < cut:
            continue
        n_groups = read_hypothesis(i, t, items, b, case, plays, w)
        if n_groups == 1:
            recall_sums(desk.first[i], w)
        else:
            sum_groups(plays, n_groups, w)
        state, top = items.state[case.row, i], items.arm[case.row, i]
        for j in range(N_SLOPES):
            p = desk.share[i] * desk.weight[i, j]
            if p >= cut:
                posterior_of_groups(n_groups, j, w)
                shrink(j, w, desk.mean, desk.variance)
                put_in_order(
                    desk.mean,
                    desk.variance,
                    t,
                    case.row,
                    state,
                    top,
                    desk.inverse,
                    desk.ordered,
                    desk.room.scratch,
                    desk.room.flow,
                )
                raise_above(desk.ordered, top, desk.variance[top])
                add_hypothesis(p, top, desk.ordered, desk.variance, desk.split)
