r"""Points of a user's posterior: a mixture of states, each free or strict, and of a stranger.

In its *strict* version a state's order holds for the user. Of prior weight ``trust``, it has the
evidence of the free version times

.. math:: \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab} \mid \mathrm{rewards})
          \Big/ \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab}),

over the order's direct relations, and its points are projected on the order with the weights
1 / variance. The points are the same for all users with as many plays, so that choices are a
function of the state: coordinate by coordinate the quantiles of the normal distribution in a
shuffled order (a Latin hypercube), one of `N_TABLES` shuffles after the other.
"""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits._jit import kernel, lean
from lobandits.orders import LatentOrders, OrderTables
from lobandits.orders.closure import reduction
from lobandits.priors import Prior
from lobandits.priors.posterior import Components, Posterior, condition, make_posterior, weigh
from lobandits.projection.kernels import fit_one
from lobandits.projection.scratch import Scratch, make_scratch

N_TABLES = 32
GOLDEN = 0.6180339887498949  # shifts the strata of the components from play to play
FAR = 10.0  # log weights so far below the best count as nothing: no point would stand for them
DEEP = -30.0  # below, the tail of Phi is its asymptote
SMALL = 1e-200
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


class Room(NamedTuple):
    """Working memory for the points of one user."""

    posterior: Posterior
    log: FloatArray  # (2 b m + 1,): free, strict, stranger
    share: FloatArray  # (2 b m + 1,)
    points: FloatArray  # (n, k)
    top: IntArray  # (n,)
    weight: FloatArray  # (k,): 1 / variance
    fit: FloatArray  # (k,)
    scratch: Scratch


def make_mixture(prior: Prior, trust: float, stranger: float) -> Mixture:
    """Return the mixture of a prior; ``stranger`` is the weight of users like none before."""
    components = prior.components(stranger)
    upper, lower = direct_relations(prior.orders)
    log_order = np.empty(len(components.mean))
    covariance = np.linalg.inv(components.precision).astype(np.float64)
    prior_chances(components, upper, lower, covariance, log_order)
    with np.errstate(divide="ignore"):
        logs = float(np.log(1.0 - trust)), float(np.log(trust))
    level = components.precision.sum(axis=2)
    return Mixture(components, prior.orders.tables, upper, lower, log_order, *logs, level)


def make_room(prior: Prior, n_points: int) -> Room:
    """Allocate the working memory."""
    k, b, m = prior.n_arms, len(prior.factors), prior.n_states
    return Room(
        posterior=make_posterior(b, m, k),
        log=np.empty(2 * b * m + 1),
        share=np.empty(2 * b * m + 1),
        points=np.empty((n_points, k)),
        top=np.empty(n_points, np.int64),
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
def point_tables(n_points: int, n_coordinates: int) -> FloatArray:
    """Return (N_TABLES, n_points, n_coordinates) normal quantiles, shuffled in each coordinate.

    In the tables the strata's points stand at other places, so that together they reach as far
    as N_TABLES n_points quantiles do.
    """
    from scipy.special import ndtri

    rng = np.random.default_rng(n_points)
    shape = N_TABLES, n_points, n_coordinates
    stratum = np.argsort(rng.random(shape), axis=1)
    place = np.argsort(rng.random((N_TABLES, 1, n_coordinates)), axis=0) + 0.5
    return read_only(ndtri((stratum + place / N_TABLES) / n_points))


@lean
def draw_points(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    sigma: float,
    x: Mixture,
    tables: FloatArray,
    r: Room,
) -> None:
    """Write the points of one user and which allowed arm is on top of each.

    O(b k^3 + b m k^2 + n k^2) for n points.
    """
    plays = 0
    for a in range(counts.shape[0]):
        plays += counts[a]
    condition(counts, sums, sigma, x.components, r.posterior)
    weigh_versions(x, r)
    normals = tables[plays % tables.shape[0]]
    n, half = r.points.shape[0], x.components.mean.shape[0]
    phase = (plays * GOLDEN) % 1.0
    j, reached, ready = 0, r.share[0], -1
    for i in range(n):
        # Invariant: components before j hold less than (i + phase) / n of the weight.
        while (i + phase) / n >= reached and j < 2 * half:
            j += 1
            reached += r.share[j]
        if j == 2 * half:
            place_stranger(normals[i], x.components, r.posterior, r.points[i])
            r.top[i] = highest(r.points[i], allowed)
            continue
        place_state(normals[i], j % half, x, r.posterior, r.points[i])
        if j < half:
            r.top[i] = highest(r.points[i], allowed)
            continue
        if ready != j:
            inverse_variances(j - half, x, r)
            ready = j
        r.top[i] = keep_order(i, (j - half) % x.tables.kind.shape[1], allowed, x.tables, r)


@lean
def weigh_versions(x: Mixture, r: Room) -> None:
    """Write the shares of all states, free and strict, and of the stranger.

    An order's chance is at most one, which bounds what a strict version can weigh.
    """
    p, half = r.posterior, x.components.mean.shape[0]
    best = p.log[half]
    for j in range(half):
        r.log[j] = p.log[j] + x.log_free
        best = max(best, r.log[j])
    for j in range(half):
        most = p.log[j] + x.log_strict - x.log_order[j]
        r.log[half + j] = -np.inf
        if most > best - FAR:
            r.log[half + j] = most + order_chance(j, x, p)
            best = max(best, r.log[half + j])
    r.log[2 * half] = p.log[half]
    weigh(r.log, r.share)


@lean
def order_chance(j: int, x: Mixture, p: Posterior) -> float:
    """Return the log of the order's chance under the posterior of component j; O(k)."""
    m = x.tables.kind.shape[1]
    return chance(
        x.upper[j % m], x.lower[j % m], p.mean[j], p.cov[j // m], p.gain[j], p.scale_var[j]
    )


@lean
def chance(
    upper: IntArray,
    lower: IntArray,
    mean: FloatArray,
    cov: FloatArray,
    gain: FloatArray,
    scale_var: float,
) -> float:
    """Return the sum over relations of log Phi(gap / sd) under N(mean, cov + v gain gain')."""
    log, product = 0.0, 1.0
    for e in range(upper.shape[0]):
        a, b = upper[e], lower[e]
        if a < 0:
            break
        variance = cov[a, a] + cov[b, b] - 2.0 * cov[a, b]
        variance += scale_var * (gain[a] - gain[b]) ** 2
        z = (mean[a] - mean[b]) / math.sqrt(max(variance, LEAST_VARIANCE))
        if z > DEEP:
            product *= 0.5 * math.erfc(-z / math.sqrt(2.0))
            if product < SMALL:
                log += math.log(product)
                product = 1.0
        else:
            log -= 0.5 * z * z + math.log(-z * math.sqrt(2.0 * math.pi))
    return log + math.log(product)


@kernel
def prior_chances(
    c: Components, upper: IntArray, lower: IntArray, cov: FloatArray, out: FloatArray
) -> None:
    """Write the log chance of each component's order before any reward."""
    m = upper.shape[0]
    for j in range(len(c.mean)):
        s = j % m
        out[j] = chance(upper[s], lower[s], c.mean[j], cov[j // m], c.direction[j], c.square[j])


@lean
def place_state(normal: FloatArray, j: int, x: Mixture, p: Posterior, out: FloatArray) -> None:
    """Write one point of component j: mean + R' e + sqrt(v) e' g, without its own shift.

    What moves all arms alike tells nothing of which is best, and would only blur what the arms
    tell of each other: given the gaps, P's expectation of it is 0 where 1' Lambda (R' e) = 0.
    """
    k = out.shape[0]
    f = j // x.tables.kind.shape[1]
    for a in range(k):
        out[a] = 0.0
    for b in range(k):
        for a in range(b + 1):
            out[a] += p.root[f, b, a] * normal[b]
    along = total = 0.0
    for a in range(k):
        t = x.level[f, a] + p.weight[a]
        along += t * out[a]
        total += t
    shift = along / total
    size = math.sqrt(p.scale_var[j]) * normal[k]
    for a in range(k):
        out[a] += p.mean[j, a] - shift + size * p.gain[j, a]


@lean
def place_stranger(normal: FloatArray, c: Components, p: Posterior, out: FloatArray) -> None:
    """Write one point of the stranger: its level, then every arm on its own. O(k)."""
    k = out.shape[0]
    level = c.level + p.steady[1] + math.sqrt(p.steady[0]) * normal[k]
    for a in range(k):
        free = 1.0 + p.weight[a] * c.own
        pulled = (p.value[a] - level) * (1.0 - 1.0 / free)
        out[a] = level + pulled + math.sqrt(c.own / free) * normal[a]


@lean
def inverse_variances(j: int, x: Mixture, r: Room) -> None:
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
def highest(point: FloatArray, allowed: BoolArray) -> int:
    """Return the allowed arm of the highest mean."""
    top = -1
    for a in range(point.shape[0]):
        if allowed[a] and (top < 0 or point[a] > point[top]):
            top = a
    return top


@lean
def keep_order(i: int, state: int, allowed: BoolArray, t: OrderTables, r: Room) -> int:
    """Project point i on the order of ``state``; return its top: of arms that tie, the upper."""
    point = r.points[i]
    fit_one(point, r.weight, t, 0, state, -1, r.fit, r.scratch)
    top = -1
    for q in range(point.shape[0]):
        a = t.sequence[0, state, q]
        point[a] = r.fit[a]
        if allowed[a] and (top < 0 or point[a] > point[top]):
            top = a
    return top
