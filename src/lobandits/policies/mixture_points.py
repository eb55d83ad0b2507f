r"""Points of a user's posterior: a mixture of states, each free or strict, and of a stranger.

In its *strict* version a state's order holds for the user. Of prior weight ``trust``, it has the
evidence of the free version times

.. math:: \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab} \mid \mathrm{rewards})
          \Big/ \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab}),

over the order's direct relations, and its points are projected on the order with the weights
1 / variance. The points are the same for all users with as many plays, so that choices are a
function of the state: coordinate by coordinate the quantiles of the normal distribution in a
shuffled order (a Latin hypercube), one shuffle after the other. There are `IN_ALL` points in all of
the shuffles: what is less likely than one of these is never seen, and so never explored.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits._jit import NONE, ZERO, kernel, lean
from lobandits.orders import LatentOrders, OrderTables
from lobandits.orders.closure import reduction
from lobandits.priors import Prior
from lobandits.priors.posterior import (
    Components,
    Posterior,
    condition,
    make_posterior,
    settle,
    weigh,
)
from lobandits.projection.kernels import fit_one
from lobandits.projection.scratch import Scratch, make_scratch

N_TABLES = 32
IN_ALL = 2**15
GOLDEN = 0.6180339887498949  # shifts the strata of the components from play to play
TURNS = 4096.0  # of tables, that weights which are no whole numbers are spread over
FAR = 8.0  # log weights so far below the best count as nothing: no point would stand for them
DEEP = -30.0  # below, the tail of Phi is its asymptote
SURE = 6.0  # above, the chance of a relation is one
STEPS = 128.0
LEAST_VARIANCE = 1e-30


class Mixture(NamedTuple):
    """What points are drawn from: a prior, its orders, and how far these are trusted."""

    components: Components
    tables: OrderTables
    upper: NDArray[np.int64]  # (m, e): the better arms of direct relations, -1 beyond
    lower: NDArray[np.int64]
    log_order: FloatArray  # (b m,): log chance of the order under the prior
    log_free: float
    log_strict: float
    level: FloatArray  # (b, k): the row sums of A^-1
    log_phi: FloatArray  # log Phi from DEEP to SURE, STEPS for each unit


class PointMemory(NamedTuple):
    """Working memory for the points of one user."""

    posterior: Posterior
    log: FloatArray  # (2 b m + 1,): free, strict, stranger
    share: FloatArray  # (2 b m + 1,)
    points: FloatArray  # (k, n)
    top: IntArray  # (n,)
    component: IntArray  # (n,): the version that a point stands for
    shift: FloatArray  # (n,): what moves all arms of a point alike
    settled: BoolArray  # (b m,): mean and gain are those of the user in hand
    point: FloatArray  # (k,): one point, to project
    weight: FloatArray  # (k,): 1 / variance
    fit: FloatArray  # (k,)
    scratch: Scratch


def make_mixture(prior: Prior, trust: float, stranger: float, freedom: float = 0.0) -> Mixture:
    """Return the mixture of a prior; ``stranger`` is the weight of users like none before."""
    components = prior.components(stranger, freedom)
    upper, lower = direct_relations(prior.orders)
    log_order = np.empty(len(components.mean))
    covariance = np.linalg.inv(components.precision).astype(np.float64)
    prior_chances(components, upper, lower, covariance, log_normal_table(), log_order)
    with np.errstate(divide="ignore"):
        logs = float(np.log(1.0 - trust)), float(np.log(trust))
    level = components.precision.sum(axis=2)
    return Mixture(
        components, prior.orders.tables, upper, lower, log_order, *logs, level, log_normal_table()
    )


def make_memory(prior: Prior, n_points: int) -> PointMemory:
    """Allocate the working memory."""
    k, b, m = prior.n_arms, len(prior.factors), prior.n_states
    return PointMemory(
        posterior=make_posterior(b, m, k),
        log=np.empty(2 * b * m + 1),
        share=np.empty(2 * b * m + 1),
        points=np.empty((k, n_points)),
        top=np.empty(n_points, np.int64),
        component=np.empty(n_points, np.int64),
        shift=np.empty(n_points),
        settled=np.empty(b * m, np.bool_),
        point=np.empty(k),
        weight=np.empty(k),
        fit=np.empty(k),
        scratch=make_scratch(k),
    )


def direct_relations(orders: LatentOrders) -> tuple[IntArray, IntArray]:
    """Return better and worse arms of each state's direct relations, (m, most), -1 beyond."""
    pairs = [np.argwhere(reduction(above)) for above in orders.precedes]
    most = max(map(len, pairs))
    table = np.full((2, len(pairs), max(most, 1)), -1, dtype=np.int64)
    for s, some in enumerate(pairs):
        table[:, s, : len(some)] = some.T
    return table[0], table[1]


@cache
def log_normal_table() -> FloatArray:
    """Return log Phi on a grid; straight lines between are wrong by at most 1e-5."""
    from scipy.special import log_ndtr

    return read_only(log_ndtr(np.arange(DEEP, SURE + 2.0 / STEPS, 1.0 / STEPS)))


@cache
def point_tables(n_points: int, n_coordinates: int) -> FloatArray:
    """Return (tables, n_coordinates, n_points) normal quantiles, shuffled in each coordinate.

    In the tables the strata's points stand at other places, so that together they reach as far
    as all tables' points as quantiles do.
    """
    from scipy.special import ndtri

    rng = np.random.default_rng(n_points)
    n_tables = max(N_TABLES, IN_ALL // n_points)
    shape = n_tables, n_points, n_coordinates
    stratum = np.argsort(rng.random(shape), axis=1)
    place = np.argsort(rng.random((n_tables, 1, n_coordinates)), axis=0) + 0.5
    values = ndtri((stratum + place / n_tables) / n_points)
    return read_only(np.ascontiguousarray(values.transpose(0, 2, 1)))


@lean
def draw_points(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    sigma: float,
    x: Mixture,
    tables: FloatArray,
    r: PointMemory,
) -> None:
    """Write the points of one user and which allowed arm is on top of each.

    O(b k^3 + b m k^2 + n k^2) for n points.
    """
    plays, mixed = 0.0, 0.0
    for a in range(counts.shape[0]):
        plays += counts[a]
        mixed += (a + 1) * counts[a]
    # whole counts give their sum; weights, whose sum hardly moves, a number that does
    turn = int(plays + TURNS * (mixed - np.floor(mixed)))
    condition(counts, sums, sigma, x.components, r.posterior)
    r.settled[:] = False
    weigh_versions(x, r)
    share_points((turn * GOLDEN) % 1.0, r)
    normals = tables[turn % tables.shape[0]]
    n, half = r.top.shape[0], x.components.mean.shape[0]
    place_all_noise(normals, x, r)
    first = ZERO
    while first < n:
        # Invariant: points before ``first`` are placed; those up to ``last`` share a component.
        j, last = r.component[first], first + 1
        while last < n and r.component[last] == j:
            last += 1
        if j == 2 * half:
            place_strangers(first, last, normals, x.components, r)
        else:
            place_states(first, last, j % half, normals, x, r)
        if half <= j < 2 * half:
            inverse_variances(j - half, x, r)
            keep_order(first, last, (j - half) % x.tables.kind.shape[1], allowed, x, r)
        else:
            find_tops(first, last, allowed, r)
        first = last


@lean
def share_points(phase: float, r: PointMemory) -> None:
    """Write which version each point stands for: as many points for each as its share says."""
    n, j, reached = r.top.shape[0], 0, r.share[0]
    for i in range(n):
        # Invariant: components before j hold less than (i + phase) / n of the weight.
        while (i + phase) / n >= reached and j < r.share.shape[0] - 1:
            j += 1
            reached += r.share[j]
        r.component[i] = j


@lean
def weigh_versions(x: Mixture, r: PointMemory) -> None:
    """Write the shares of all states, free and strict, and of the stranger.

    An order's chance is at most one, which bounds what a strict version can weigh.
    """
    p, half = r.posterior, x.components.mean.shape[0]
    best = p.log[half]
    first = 0
    for j in range(half):
        r.log[j] = p.log[j] + x.log_free
        best = max(best, r.log[j])
        if p.log[j] - x.log_order[j] > p.log[first] - x.log_order[first]:
            first = j
    for i in range(-1, half):
        # The likeliest goes first: it raises the bar that saves most of the others their work.
        j = first if i < 0 else i
        if i == first:
            continue
        most = p.log[j] + x.log_strict - x.log_order[j]
        r.log[half + j] = -np.inf
        if most > best - FAR:
            make_settled(j, x, r)
            r.log[half + j] = most + order_chance(j, best - FAR - most, x, p)
            best = max(best, r.log[half + j])
    r.log[2 * half] = p.log[half]
    weigh(r.log, r.share)


@lean
def make_settled(j: int, x: Mixture, r: PointMemory) -> None:
    """Settle component j, once for a user."""
    if not r.settled[j]:
        settle(j, x.components, r.posterior)
        r.settled[j] = True


@lean
def order_chance(j: int, least: float, x: Mixture, p: Posterior) -> float:
    """Return the log of the order's chance under the posterior of component j; O(k)."""
    m = x.tables.kind.shape[1]
    cov, gain, v = p.cov[j // m], p.gain[j], p.scale_var[j]
    args = p.mean[j], cov, gain, v, x.log_phi, least
    return chance(x.upper[j % m], x.lower[j % m], *args)


@lean
def chance(
    upper: IntArray,
    lower: IntArray,
    mean: FloatArray,
    cov: FloatArray,
    gain: FloatArray,
    scale_var: float,
    log_phi: FloatArray,
    least: float,
) -> float:
    """Return the sum over relations of log Phi(gap / sd) under N(mean, cov + v gain gain').

    Where it falls below ``least`` it is -inf.
    """
    log = 0.0
    for e in range(upper.shape[0]):
        a, b = upper[e], lower[e]
        if a < 0:
            break
        variance = cov[a, a] + cov[b, b] - 2.0 * cov[a, b]
        variance += scale_var * (gain[a] - gain[b]) ** 2
        z = (mean[a] - mean[b]) / math.sqrt(max(variance, LEAST_VARIANCE))
        if z >= SURE:
            continue
        if z > DEEP:
            place = (z - DEEP) * STEPS
            i = int(place)
            log += log_phi[i] + (place - i) * (log_phi[i + 1] - log_phi[i])
        else:
            log -= 0.5 * z * z + math.log(-z * math.sqrt(2.0 * math.pi))
        if log < least:
            return -np.inf
    return log


@kernel
def prior_chances(
    c: Components,
    upper: IntArray,
    lower: IntArray,
    cov: FloatArray,
    log_phi: FloatArray,
    out: FloatArray,
) -> None:
    """Write the log chance of each component's order before any reward."""
    m = upper.shape[0]
    for j in range(len(c.mean)):
        s = j % m
        args = c.mean[j], cov[j // m], c.direction[j], c.square[j], log_phi, -np.inf
        out[j] = chance(upper[s], lower[s], *args)


@lean
def place_states(
    first: int, last: int, j: int, normals: FloatArray, x: Mixture, r: PointMemory
) -> None:
    """Make noise to points of component j: mean + R' e + sqrt(v) e' g, without their own shift.

    What moves all arms alike tells nothing of which is best, and would only blur what the arms
    tell of each other: given the gaps, P's expectation of it is 0 where 1' Lambda (R' e) = 0.
    """
    make_settled(j, x, r)
    p, scale = r.posterior, math.sqrt(r.posterior.scale_var[j])
    for i in range(first, last):
        shift, size = r.shift[i], scale * normals[r.point.shape[0], i]
        for a in range(r.point.shape[0]):
            r.points[a, i] += p.mean[j, a] - shift + size * p.gain[j, a]


@lean
def place_noise(
    first: int, last: int, f: int, normals: FloatArray, x: Mixture, r: PointMemory
) -> None:
    """Write R' e of factor f for some points, and how far each is shifted; O(k^2) for a point."""
    p, k, points, shift = r.posterior, r.point.shape[0], r.points, r.shift
    total = 0.0
    for a in range(k):
        total += x.level[f, a] + p.weight[a]
    for i in range(first, last):
        shift[i] = 0.0
    for a in range(k):
        for i in range(first, last):
            points[a, i] = 0.0
        for b in range(a, k):
            size = p.root[f, b, a]
            for i in range(first, last):
                points[a, i] += size * normals[b, i]
        part = (x.level[f, a] + p.weight[a]) / total
        for i in range(first, last):
            shift[i] += part * points[a, i]


@lean
def place_all_noise(normals: FloatArray, x: Mixture, r: PointMemory) -> None:
    """Write R' e for all points of states, those of one factor together."""
    n, m, half = r.top.shape[0], x.tables.kind.shape[1], x.components.mean.shape[0]
    first = ZERO
    while first < n and r.component[first] < 2 * half:
        f, last = r.component[first] % half // m, first + 1
        while last < n and r.component[last] < 2 * half and r.component[last] % half // m == f:
            last += 1
        place_noise(first, last, f, normals, x, r)
        first = last


@lean
def place_strangers(
    first: int, last: int, normals: FloatArray, c: Components, r: PointMemory
) -> None:
    """Write points of the stranger: its level, then every arm on its own. O(k) for each."""
    p, k = r.posterior, r.point.shape[0]
    sd = math.sqrt(p.steady[0])
    for i in range(first, last):
        r.shift[i] = c.level + p.steady[1] + sd * normals[k, i]
    for a in range(k):
        free = 1.0 + p.weight[a] * c.own
        pulled, own = 1.0 - 1.0 / free, math.sqrt(c.own / free)
        for i in range(first, last):
            level = r.shift[i]
            r.points[a, i] = level + (p.value[a] - level) * pulled + own * normals[a, i]


@lean
def inverse_variances(j: int, x: Mixture, r: PointMemory) -> None:
    """Write 1 / variance of each arm under component j, without the shift of all arms."""
    p, f = r.posterior, j // x.tables.kind.shape[1]
    k = r.weight.shape[0]
    total = 0.0
    for a in range(k):
        total += x.level[f, a] + p.weight[a]
    for a in range(k):
        own = p.cov[f, a, a] - 1.0 / total + p.scale_var[j] * p.gain[j, a] ** 2
        r.weight[a] = 1.0 / max(own, LEAST_VARIANCE)


@lean
def find_tops(first: int, last: int, allowed: BoolArray, r: PointMemory) -> None:
    """Write the allowed arm of the highest mean in each point."""
    for i in range(first, last):
        r.top[i] = -1
    for a in range(allowed.shape[0]):
        if allowed[a]:
            for i in range(first, last):
                if r.top[i] < 0 or r.points[a, i] > r.points[r.top[i], i]:
                    r.top[i] = a


@lean
def keep_order(
    first: int, last: int, state: int, allowed: BoolArray, x: Mixture, r: PointMemory
) -> None:
    """Project points on the order of ``state``; of arms that tie, the upper is on top."""
    t, k = x.tables, r.point.shape[0]
    for i in range(first, last):
        for a in range(k):
            r.point[a] = r.points[a, i]
        if breaks_order(r.point, x.upper[state], x.lower[state]):
            fit_one(r.point, r.weight, t, ZERO, state, NONE, r.fit, r.scratch)
            for a in range(k):
                r.points[a, i] = r.point[a] = r.fit[a]
        top = -1
        for q in range(k):
            a = t.sequence[0, state, q]
            if allowed[a] and (top < 0 or r.point[a] > r.point[top]):
                top = a
        r.top[i] = top


@lean
def breaks_order(point: FloatArray, upper: IntArray, lower: IntArray) -> bool:
    """Tell whether a direct relation does not hold."""
    broken = False
    for e in range(upper.shape[0]):
        broken |= upper[e] >= 0 and point[upper[e]] < point[lower[e]]
    return broken
