"""The hypotheses of LobIDS: their weights, and the means under each.

A hypothesis is an item of `bounded`: a state with one of its maximal arms on top.
"""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray
from lobandits._jit import lean
from lobandits.orders import DAG, OrderTables
from lobandits.policies.bounded import Room, Tracker, make_room
from lobandits.policies.working import (
    N_SLOPES,
    Working,
    log_evidence,
    make_working,
    place_arms,
    posterior_of_groups,
    recall_sums,
    set_variances,
    shrink,
    sum_groups,
)
from lobandits.projection.kernels import fit_one

DROP = 40.0  # of log-likelihood below the best: hypotheses beyond are dropped
FLOOR, FLOOR_ROUNDS = 0.2, 3.0  # hypotheses near the best share min(FLOOR, FLOOR_ROUNDS / t)
CUT = 1e-2  # of the floor's share for one hypothesis: lighter slopes are left out
LIGHTEST = -30.0  # log-weight of a slope, relative to the hypothesis's best


class Case(NamedTuple):
    """One user in one round."""

    tracker: Tracker
    row: int  # of the user's orders
    slot: int  # the row of the user's bounds
    n_items: int
    least: float  # the least loss
    scale: float  # 2 sigma^2
    low: float  # the lowest average
    unit: float  # the range of the averages plus sigma
    noise: float  # sigma^2 in that unit
    now: float  # t, one more than the plays


class Split(NamedTuple):
    """What is known of the arms, by the arm that is on top."""

    mass: FloatArray  # (k,): the weight of each arm on top
    centre: FloatArray  # (k, k): [top, arm], the arm's mean given the top
    within: FloatArray  # (k,): the sum of p times (variance and squared distance from centre)
    mean: FloatArray  # (k,)
    regret: FloatArray  # (k,): Delta
    information: FloatArray  # (k,): I


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


def make_split(k: int) -> Split:
    """Allocate the memory for ``k`` arms."""
    rows = [np.empty(k) for _ in range(5)]
    return Split(rows[0], np.empty((k, k)), *rows[1:])


def make_desk(k: int, n_items: int) -> Desk:
    """Allocate the working memory for ``k`` arms and ``n_items`` hypotheses."""
    by_arm = [np.empty(k) for _ in range(4)]
    by_item = [np.empty(n_items) for _ in range(3)]
    tables = [np.zeros((n_items, N_SLOPES)) for _ in range(2)]
    return Desk(make_room(k, n_items), make_working(k), make_split(k), *tables, *by_item, *by_arm)


@lean
def split_by_top(case: Case, desk: Desk) -> None:
    """Write ``desk.split``; O(h k b) at worst for h hypotheses in reach and b slopes."""
    set_variances(desk.room.weight, case.noise, desk.working)
    weigh_hypotheses(case, desk)
    cut = share_weight(case, desk)
    clear(desk.split)
    add_hypotheses(cut, case, desk)
    conclude(case.noise, desk.split)


@lean
def read_hypothesis(i: int, case: Case, desk: Desk) -> int:
    """Write the fit and the positions of hypothesis i; return how many groups it has."""
    w = desk.working
    for a in range(w.fit.shape[0]):
        w.fit[a] = 0.0
        if desk.room.weight[a] > 0.0:
            w.fit[a] = (case.tracker.bounds.fit[case.slot, i, a] - case.low) / case.unit
    state = case.tracker.items.state[case.row, i]
    return place_arms(case.tracker.tables, case.row, state, w.z, w.group, w.below)


@lean
def weigh_hypotheses(case: Case, desk: Desk) -> None:
    """Write each hypothesis's weights relative to its best slope, and that one's log-weight."""
    t, w, plays = case.tracker, desk.working, desk.room.weight
    for i in range(case.n_items):
        gap = (t.bounds.bound[case.slot, i] - case.least) / case.scale
        if not desk.room.projected[i] or gap > DROP:
            desk.gap[i] = np.inf
            desk.peak[i] = -np.inf
            continue
        n_groups = read_hypothesis(i, case, desk)
        sum_groups(plays, n_groups, w)
        best = log_evidence(n_groups, w, desk.weight[i])
        for j in range(N_SLOPES):
            desk.first[i, j] = w.s1[0, j]
            log = desk.weight[i, j] - best
            desk.weight[i, j] = np.exp(log) if log > LIGHTEST else 0.0
        tops = 0.0
        for a in range(plays.shape[0]):
            tops += t.tables.maximal[case.row, t.items.state[case.row, i], a]
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
            total += desk.share[i] * desk.weight[i].sum()
    floor = min(FLOOR, FLOOR_ROUNDS / case.now)
    for i in range(case.n_items):
        desk.share[i] *= (1.0 - floor) / total
        if desk.gap[i] <= reach:
            desk.share[i] += floor / near / desk.weight[i].sum()
    return CUT * floor / near


@lean
def add_hypotheses(cut: float, case: Case, desk: Desk) -> None:
    """Add the means of every hypothesis under every slope that is no lighter than ``cut``."""
    t, w = case.tracker, desk.working
    for i in range(case.n_items):
        if desk.share[i] < cut:
            continue
        n_groups = read_hypothesis(i, case, desk)
        if n_groups == 1:
            recall_sums(desk.first[i], w)
        else:
            sum_groups(desk.room.weight, n_groups, w)
        state, top = t.items.state[case.row, i], t.items.arm[case.row, i]
        for j in range(N_SLOPES):
            p = desk.share[i] * desk.weight[i, j]
            if p >= cut:
                posterior_of_groups(n_groups, j, w)
                shrink(j, w, desk.mean, desk.variance)
                put_in_order(t.tables, case.row, state, top, desk)
                raise_above(desk.ordered, top, desk.variance[top])
                add_hypothesis(p, top, desk.ordered, desk.variance, desk.split)


@lean
def put_in_order(t: OrderTables, row: int, state: int, top: int, desk: Desk) -> None:
    """Project the means on the order with ``top`` above all, weighted by 1 / variance."""
    if keeps_order(desk.mean, t, row, state, top):
        for a in range(desk.mean.shape[0]):
            desk.ordered[a] = desk.mean[a]
        return
    for a in range(desk.mean.shape[0]):
        desk.inverse[a] = 1.0 / desk.variance[a]
    room = desk.room
    fit_one(desk.mean, desk.inverse, t, row, state, top, desk.ordered, room.scratch, room.flow)


@lean
def keeps_order(mean: FloatArray, t: OrderTables, row: int, state: int, top: int) -> bool:
    """Tell whether the means keep the order with ``top`` above all; False for any DAG."""
    if t.kind[row, state] == DAG:
        return False
    kept = True
    for a in range(mean.shape[0]):
        upper = t.parent[row, state, a]
        kept &= mean[a] <= mean[upper if upper >= 0 else top]
    return kept


@lean
def raise_above(mean: FloatArray, top: int, variance: float) -> None:
    """Replace the mean m of ``top`` by E[X | X > M], X ~ N(m, variance), M the best other mean.

    That is M + sd (x + phi(x) / Phi(x)) with x = (m - M) / sd.
    """
    best = -np.inf
    for a in range(mean.shape[0]):
        if a != top:
            best = max(best, mean[a])
    if best == -np.inf:
        return
    sd = math.sqrt(variance)
    x = (mean[top] - best) / sd
    density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    mean[top] = best + sd * (x + density / (0.5 * math.erfc(-x / math.sqrt(2.0))))


@lean
def clear(s: Split) -> None:
    """Forget all hypotheses."""
    s.mass[:] = 0.0
    s.within[:] = 0.0


@lean
def add_hypothesis(p: float, top: int, mean: FloatArray, variance: FloatArray, s: Split) -> None:
    """Add a hypothesis of weight ``p``; Welford's update keeps centres and squares precise."""
    k = mean.shape[0]
    centre = s.centre[top]
    if s.mass[top] == 0.0:
        for a in range(k):
            centre[a] = mean[a]
    s.mass[top] += p
    share = p / s.mass[top]
    for a in range(k):
        before = mean[a] - centre[a]
        centre[a] += share * before
        s.within[a] += p * (before * (mean[a] - centre[a]) + variance[a])


@lean
def conclude(noise: float, s: Split) -> None:
    """Turn the sums into Delta and I, and masses into chances; ``noise`` is sigma^2. O(k^2).

    An arm that is on top in every hypothesis has a regret of exactly 0.
    """
    k = s.mass.shape[0]
    total = 0.0
    for a in range(k):
        total += s.mass[a]
        s.mean[a] = s.regret[a] = s.information[a] = 0.0
    for top in range(k):
        s.mass[top] /= total
        if s.mass[top] > 0.0:
            for a in range(k):
                s.mean[a] += s.mass[top] * s.centre[top, a]
                s.regret[a] += s.mass[top] * (s.centre[top, top] - s.centre[top, a])
    for top in range(k):
        if s.mass[top] > 0.0:
            for a in range(k):
                s.information[a] += s.mass[top] * (s.centre[top, a] - s.mean[a]) ** 2
    for a in range(k):
        s.information[a] = 0.5 * np.log1p(s.information[a] / (noise + s.within[a] / total))
