"""The hypotheses of LobIDS: their weights, the means under each, and what these say of the arms.

A hypothesis is a state with one of its maximal arms on top; of allowed arms, if not all are.
`TopMoments` splits the arms' means by the arm on top: that gives regret and information.
"""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import NONE, ZERO, lean
from lobandits.orders import DAG, OrderTables
from lobandits.policies.choices import all_allowed, list_tops
from lobandits.policies.line_prior import (
    N_SLOPES,
    LineMemory,
    log_evidence,
    make_line_memory,
    place_arms,
    posterior_of_groups,
    recall_sums,
    set_variances,
    shrink,
    sum_groups,
)
from lobandits.policies.loss_bounds import (
    Losses,
    add_top,
    cell,
    lower_bound,
    lowest,
    project_among,
    project_item,
    read_user,
)
from lobandits.policies.loss_items import listed
from lobandits.projection.kernels import fit_one
from lobandits.projection.mincut import split_dag

DROP = 40.0  # of log-likelihood below the best: hypotheses beyond are dropped
FLOOR, FLOOR_ROUNDS = 0.2, 3.0  # hypotheses near the best share min(FLOOR, FLOOR_ROUNDS / t)
CUT = 1e-2  # of the floor's share for one hypothesis: lighter slopes are left out
LIGHTEST = -30.0  # log-weight of a slope, relative to the hypothesis's best


class Hypotheses(NamedTuple):
    """The hypotheses of one user that are near enough, h at most, and b slopes of each."""

    state: IntArray  # (h,)
    top: IntArray  # (h,)
    rivals: IntArray  # (h,): how many arms can be on top of its state
    loss: FloatArray  # (h,)
    fit: FloatArray  # (h, k): the projection of the means
    weight: FloatArray  # (h, b): relative to each hypothesis's own best slope; unset if dropped
    first: FloatArray  # (h, b): S_1 of its first group
    gap: FloatArray  # (h,): log-likelihood below the best, inf if dropped
    peak: FloatArray  # (h,): the log-weight of its best slope, -inf if dropped
    share: FloatArray  # (h,): the weight of its best slope


class TopMoments(NamedTuple):
    """What is known of the arms, by the arm that is on top."""

    mass: FloatArray  # (k,): the weight of each arm on top
    centre: FloatArray  # (k, k): [top, arm], the arm's mean given the top
    within: FloatArray  # (k,): the sum of p times (variance and squared distance from centre)
    mean: FloatArray  # (k,)
    regret: FloatArray  # (k,): Delta
    information: FloatArray  # (k,): I


class Inference(NamedTuple):
    """Working memory for one user: what leads from the losses to regret and information."""

    losses: Losses
    line: LineMemory
    hypotheses: Hypotheses
    moments: TopMoments
    mean: FloatArray  # (k,)
    variance: FloatArray  # (k,)
    ordered: FloatArray  # (k,)
    inverse: FloatArray  # (k,)


class Round(NamedTuple):
    """One user in one round."""

    row: int  # of the user's orders
    n: int  # hypotheses
    least: float  # their least loss
    scale: float  # 2 sigma^2
    low: float  # the lowest average
    unit: float  # the range of the averages plus sigma
    noise: float  # sigma^2 in that unit
    now: float  # t, one more than the plays


def open_inference(losses: Losses, k: int) -> Inference:
    """Allocate the working memory for ``k`` arms: h is as large as any choice set can make it."""
    h = max(losses.items.state.shape[1], losses.tables.kind.shape[1] * k)
    found = Hypotheses(
        state=np.empty(h, np.int64),
        top=np.empty(h, np.int64),
        rivals=np.empty(h, np.int64),
        loss=np.empty(h),
        fit=np.empty((h, k)),
        weight=np.empty((h, N_SLOPES)),
        first=np.empty((h, N_SLOPES)),
        gap=np.empty(h),
        peak=np.empty(h),
        share=np.empty(h),
    )
    rows = [np.empty(k) for _ in range(9)]
    moments = TopMoments(rows[0], np.empty((k, k)), *rows[1:5])
    return Inference(losses, make_line_memory(k), found, moments, *rows[5:])


@lean
def find_hypotheses(
    counts: IntArray, sums: FloatArray, u: int, allowed: BoolArray, inference: Inference,
    reach: float,
) -> tuple[int, int, float]:  # fmt: skip
    """List all hypotheses within ``reach`` of the least loss, and perhaps some beyond.

    Return the row of the user's orders, how many there are, and the least loss.
    """
    losses, found = inference.losses, inference.hypotheses
    row, slot, everything = read_user(counts, sums, u, allowed, losses)
    if everything:
        n, least = take_items(row, slot, losses, found, reach)
    else:
        n, least = take_tops(row, slot, allowed, losses, found, reach)
    return row, n, least


@lean
def take_items(
    row: int, slot: int, losses: Losses, found: Hypotheses, reach: float
) -> tuple[int, float]:
    """List the items with an arm on top: all arms are allowed."""
    items, b, r = losses.items, losses.bounds, losses.memory
    n_tops = items.first[row, items.first.shape[1] - 1]
    told = listed(losses.candidates)  # the candidates of all arms are the items themselves
    first = lowest(row, slot, told.item, ZERO, n_tops, losses)
    least = project_item(first, row, slot, losses)
    for i in range(n_tops):
        if lower_bound(i, row, slot, losses) <= least + reach:
            least = min(least, project_item(i, row, slot, losses))
    n = 0
    for i in range(n_tops):
        if r.projected[i]:
            state = items.state[row, i]
            found.state[n] = state
            found.top[n] = items.arm[row, i]
            found.loss[n] = b.lower[slot, i] + items.penalty[state]
            found.rivals[n] = 0
            for a in range(r.mean.shape[0]):
                found.rivals[n] += losses.tables.maximal[row, state, a]
                found.fit[n, a] = b.carried[slot, cell(a, i, row, items)]
            n += 1
    return n, least


@lean
def take_tops(
    row: int, slot: int, allowed: BoolArray, losses: Losses, found: Hypotheses, reach: float
) -> tuple[int, float]:
    """List the states near enough with each of their maximal allowed arms on top."""
    t, items, b, r = losses.tables, losses.items, losses.bounds, losses.memory
    least, n = np.inf, 0
    arms, tops = listed(losses.candidates).arms, losses.candidates.tops
    for s in range(t.kind.shape[1]):
        i = items.plain[row, s]
        bound = lower_bound(i, row, slot, losses)
        if bound == np.inf or bound > least + reach:
            continue
        own = project_item(i, row, slot, losses)
        rivals = list_tops(t, row, s, allowed, arms, tops)
        for j in range(rivals):
            if own > least + reach:
                continue
            top, loss = tops[j], own
            if rivals > 1:
                loss = project_among(row, s, top, allowed, losses) + items.penalty[s]
            found.state[n] = s
            found.top[n] = top
            found.loss[n] = loss
            found.rivals[n] = rivals
            for a in range(r.mean.shape[0]):
                place = cell(a, i, row, items)
                found.fit[n, a] = r.fit[a] if rivals > 1 else b.carried[slot, place]
            least = min(least, loss)
            n += 1
    return n, least


@lean
def split_by_top(game: Round, allowed: BoolArray, inference: Inference) -> None:
    """Write ``inference.moments``; O(h k b) at worst for h hypotheses in reach and b slopes."""
    set_variances(inference.losses.memory.weight, game.noise, inference.line)
    weigh_hypotheses(game, inference)
    cut = share_weight(game, inference.hypotheses)
    clear(inference.moments)
    add_hypotheses(cut, game, allowed, inference)
    conclude(game.noise, inference.moments)


@lean
def read_hypothesis(i: int, game: Round, inference: Inference) -> int:
    """Write the fit and the positions of hypothesis i; return how many groups it has."""
    w, losses, found = inference.line, inference.losses, inference.hypotheses
    for a in range(w.fit.shape[0]):
        w.fit[a] = 0.0
        if losses.memory.weight[a] > 0.0:
            w.fit[a] = (found.fit[i, a] - game.low) / game.unit
    return place_arms(losses.tables, game.row, found.state[i], w.z, w.group, w.below)


@lean
def weigh_hypotheses(game: Round, inference: Inference) -> None:
    """Write each hypothesis's weights relative to its best slope, and that one's log-weight."""
    w, found, plays = inference.line, inference.hypotheses, inference.losses.memory.weight
    for i in range(game.n):
        gap = (found.loss[i] - game.least) / game.scale
        if gap > DROP:
            found.gap[i] = np.inf
            found.peak[i] = -np.inf
            continue
        n_groups = read_hypothesis(i, game, inference)
        sum_groups(plays, n_groups, w)
        best = log_evidence(n_groups, w, found.weight[i])
        for j in range(N_SLOPES):
            found.first[i, j] = w.s1[0, j]
            log = found.weight[i, j] - best
            found.weight[i, j] = np.exp(log) if log > LIGHTEST else 0.0
        found.gap[i] = gap
        found.peak[i] = best - gap - np.log(float(found.rivals[i]))


@lean
def share_weight(game: Round, found: Hypotheses) -> float:
    """Write the shares, so that p(h, beta) = ``share[h] * weight[h, beta]``; return the cut."""
    reach = np.log(game.now)
    highest = -np.inf
    near = 0
    for i in range(game.n):
        highest = max(highest, found.peak[i])
        near += found.gap[i] <= reach
    total = 0.0
    for i in range(game.n):
        found.share[i] = np.exp(found.peak[i] - highest)
        if found.share[i] > 0.0:
            total += found.share[i] * found.weight[i].sum()
    floor = min(FLOOR, FLOOR_ROUNDS / game.now)
    for i in range(game.n):
        found.share[i] *= (1.0 - floor) / total
        if found.gap[i] <= reach:
            found.share[i] += floor / near / found.weight[i].sum()
    return CUT * floor / near


@lean
def add_hypotheses(cut: float, game: Round, allowed: BoolArray, inference: Inference) -> None:
    """Add the means of every hypothesis under every slope that is no lighter than ``cut``."""
    w, found, losses = inference.line, inference.hypotheses, inference.losses
    everything = all_allowed(allowed)
    for i in range(game.n):
        if found.share[i] < cut:
            continue
        n_groups = read_hypothesis(i, game, inference)
        if n_groups == 1:
            recall_sums(found.first[i], w)
        else:
            sum_groups(losses.memory.weight, n_groups, w)
        state, top = found.state[i], found.top[i]
        if not everything and found.rivals[i] > 1:
            add_top(losses.tables, game.row, state, top, allowed, losses.memory.above)
        for j in range(N_SLOPES):
            p = found.share[i] * found.weight[i, j]
            if p >= cut:
                posterior_of_groups(n_groups, j, w)
                shrink(j, w, inference.mean, inference.variance)
                put_in_order(game.row, i, allowed, everything, inference)
                raise_above(inference.ordered, top, inference.variance[top], allowed)
                add_hypothesis(p, top, inference.ordered, inference.variance, inference.moments)


@lean
def put_in_order(
    row: int, i: int, allowed: BoolArray, everything: bool, inference: Inference
) -> None:
    """Project the means on hypothesis i, weighted by 1 / variance.

    With several rivals among some arms, ``losses.memory.above`` holds its order.
    """
    t, r, found = inference.losses.tables, inference.losses.memory, inference.hypotheses
    mean, out, weight = inference.mean, inference.ordered, inference.inverse
    state, top = found.state[i], found.top[i]
    if keeps_order(mean, t, row, state, top, allowed):
        for a in range(mean.shape[0]):
            out[a] = mean[a]
        return
    for a in range(mean.shape[0]):
        weight[a] = 1.0 / inference.variance[a]
    if everything or found.rivals[i] == 1:
        above_all = top if everything else -1
        fit_one(mean, weight, t, row, state, above_all, out, inference.losses.scratch)
    else:
        split_dag(mean, weight, r.above, NONE, out, inference.losses.scratch)


@lean
def keeps_order(
    mean: FloatArray, t: OrderTables, row: int, state: int, top: int, allowed: BoolArray
) -> bool:
    """Tell whether means keep the order with ``top`` above the allowed arms; False for any DAG."""
    if t.kind[row, state] == DAG:
        return False
    kept = True
    for a in range(mean.shape[0]):
        upper = t.parent[row, state, a]
        kept &= upper < 0 or mean[a] <= mean[upper]
        kept &= not allowed[a] or mean[a] <= mean[top]
    return kept


@lean
def raise_above(mean: FloatArray, top: int, variance: float, allowed: BoolArray) -> None:
    """Replace the mean m of ``top`` by E[X | X > M], X ~ N(m, variance).

    M is the best mean of the other allowed arms. That is M + sd (x + phi(x) / Phi(x)) with
    x = (m - M) / sd.
    """
    best = -np.inf
    for a in range(mean.shape[0]):
        if allowed[a] and a != top:
            best = max(best, mean[a])
    if best == -np.inf:
        return
    sd = math.sqrt(variance)
    x = (mean[top] - best) / sd
    density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    mean[top] = best + sd * (x + density / (0.5 * math.erfc(-x / math.sqrt(2.0))))


@lean
def clear(s: TopMoments) -> None:
    """Forget all hypotheses."""
    s.mass[:] = 0.0
    s.within[:] = 0.0


@lean
def add_hypothesis(
    p: float, top: int, mean: FloatArray, variance: FloatArray, s: TopMoments
) -> None:
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
def conclude(noise: float, s: TopMoments) -> None:
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
