r"""Points of a user's posterior: a mixture of states, each free or strict.

A point is z drawn, then every arm's own part,

.. math:: \eta_a = \bar\eta_a + (1 - h_a) \, l_a^T \, dz + \sqrt{d_a (1 - h_a)} \, \epsilon_a,
          \qquad dz \sim N(0, Q^{-1}).

What moves all arms alike tells nothing of which is best, and would only blur what the arms tell of
each other. So a point's noise is taken less its average with the weights
:math:`\Lambda 1 = P 1 + 1 / \mathrm{variance}` of the cells, where P is the prior's precision,

.. math:: P 1 = D^{-1} 1 - D^{-1} F (I + F^T D^{-1} F)^{-1} F^T D^{-1} 1, \qquad F = [L, E_s]:

given the gaps between arms, the posterior's expectation of that average is 0.

In its *strict* version a state's order holds for the user. Of prior weight ``trust``, it has the
evidence of the free version times

.. math:: \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab} \mid \mathrm{rewards})
          \Big/ \prod_{a \succ b} \Phi(\mathrm{gap}_{ab} / \mathrm{sd}_{ab}),

over the order's direct relations, and its points are projected on the order with the weights
1 / variance. The points are the same for all users with as many plays, so that choices are a
function of the state: coordinate by coordinate the quantiles of the normal distribution in a
shuffled order (a Latin hypercube), one shuffle after the other. What is less likely than one of the
points of all shuffles is never seen, and so never explored.
"""

import math
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, read_only
from lobandits.basics.kernel import kernel, writable
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.posterior import (
    Cells,
    Components,
    Posterior,
    backward,
    condition,
    dot,
    forward,
    gather,
    make_memory,
    weigh,
)
from lobandits.orders import LatentOrders, OrderTables, UserOrders
from lobandits.orders.closure import reduction
from lobandits.projection.kernels import fit_one
from lobandits.projection.scratch import Scratch, make_scratch

if TYPE_CHECKING:
    from lobandits.beliefs.prior import Prior

SHUFFLES = 4096
STRIDE = 40503  # between the shuffles of one play and the next
GOLDEN = 0.6180339887498949  # shifts the strata of the components from play to play
TURNS = 4096.0  # of shuffles, that weights which are no whole numbers are spread over
FAR = 8.0  # log weights so far below the best count as nothing: no point would stand for them
DEEP = -30.0  # below, the tail of Phi is its asymptote
SURE = 6.0  # above, the chance of a relation is one
STEPS = 128.0
LEAST_VARIANCE = 1e-30


class Mixture(NamedTuple):
    """What points are drawn from: a prior's components, and how far its orders are trusted."""

    components: Components
    level: FloatArray  # (u, b m, k): P 1, the row sums of the prior's precision
    shuffle: IntArray  # (R + 1,): which shuffle a column takes, and the first arm's own part
    orders: "Strict"


class Strict(NamedTuple):
    """The orders of the states, for their strict versions; empty where these have no weight."""

    tables: OrderTables
    upper: IntArray  # (u, m, e): the better arms of direct relations, -1 beyond
    lower: IntArray
    log_order: FloatArray  # (u, b m): log chance of the order under the prior
    log_free: float
    log_strict: float
    log_phi: FloatArray  # log Phi from DEEP to SURE, STEPS for each unit


def make_mixture(
    components: Components,
    orders: LatentOrders | UserOrders | None,
    trust: float,
    shuffle: IntArray | None = None,
) -> Mixture:
    """Return the mixture of a prior's components; without trust its orders are not looked at.

    By default one shuffle after the other. Where each user has orders of their own, and so columns,
    ``shuffle`` keeps a user's points the same whoever else is looked at.
    """
    size = components.loading.shape[1] + components.direction.shape[3]
    shuffle = np.arange(size + 1) if shuffle is None else shuffle
    return Mixture(components, levels(components), shuffle, _strict(components, orders, trust))


def lifted(x: Mixture, lifts: FloatArray | None) -> Mixture:
    """Return the mixture of users whose tastes are lifted: how likely it makes their orders."""
    if lifts is None or x.orders.log_strict == -np.inf:
        return x
    log_order = np.empty((len(lifts), x.orders.log_order.shape[1]))
    prior_chances(x.components, x.orders, lifts, log_order)
    return x._replace(orders=x.orders._replace(log_order=log_order))


def levels(c: Components) -> FloatArray:
    """Return P 1 of every component, (u, b m, k)."""
    u, m, k, e = c.direction.shape
    f = c.factor[None, :, None, None, None]
    shape = u, len(c.factor), m, k
    columns = np.concatenate(
        [np.broadcast_to(c.loading, (*shape, c.loading.shape[1])),
         np.broadcast_to(f * c.direction[:, None], (*shape, e))],
        axis=-1,
    )  # fmt: skip
    precision = 1.0 / np.broadcast_to(f[..., 0] ** 2 * c.own[:, None], shape)
    weighed = columns * precision[..., None]
    inner = np.swapaxes(columns, -1, -2) @ weighed + np.eye(columns.shape[-1])
    solved = np.linalg.solve(inner, weighed.sum(axis=-2)[..., None])
    level = precision - (weighed @ solved)[..., 0]
    return np.ascontiguousarray(level.reshape(u, -1, k))


def _strict(c: Components, orders: LatentOrders | UserOrders | None, trust: float) -> Strict:
    if orders is None or trust == 0.0:
        nothing = LatentOrders.from_rankings([[0]]).tables
        none, chances = np.full((1, 1, 1), -1, np.int64), np.zeros((1, 1))
        return Strict(nothing, none, none, chances, 0.0, -np.inf, log_normal_table())
    upper, lower = direct_relations(orders)
    log_order = np.empty((len(upper), len(c.factor) * c.mean.shape[1]))
    with np.errstate(divide="ignore"):
        logs = float(np.log(1.0 - trust)), float(np.log(trust))
    given = Strict(orders.tables, upper, lower, log_order, *logs, log_normal_table())
    prior_chances(c, given, np.zeros((1, c.mean.shape[2])), log_order)
    return given


def direct_relations(orders: LatentOrders | UserOrders) -> tuple[IntArray, IntArray]:
    """Return better and worse arms of each state's direct relations, (u, m, most), -1 beyond."""
    closed = orders.precedes
    above = closed[None] if closed.ndim == 3 else closed
    direct = reduction(above)
    most = max(int(direct.sum(axis=(2, 3)).max()), 1)
    table = np.full((2, *above.shape[:2], most), -1, dtype=np.int64)
    user, state, better, worse = np.nonzero(direct)
    first = np.searchsorted(user * above.shape[1] + state, np.arange(direct.shape[0]
                            * direct.shape[1]))  # fmt: skip
    place = np.arange(len(user)) - first[user * above.shape[1] + state]
    table[0, user, state, place], table[1, user, state, place] = better, worse
    return table[0], table[1]


@cache
def log_normal_table() -> FloatArray:
    """Return log Phi on a grid; straight lines between are wrong by at most 1e-5."""
    grid = np.arange(DEEP, SURE + 2.0 / STEPS, 1.0 / STEPS)
    return read_only(np.log([0.5 * math.erfc(-z / math.sqrt(2.0)) for z in grid]))


@cache
def shuffled_quantiles(n_points: int) -> FloatArray:
    """Return (SHUFFLES, n_points) normal quantiles, one of each stratum, in shuffled orders.

    In the shuffles the strata's points stand at other places, so that together they reach as far
    as all of them as quantiles do.
    """
    rng = np.random.default_rng(n_points)
    quantile = NormalDist().inv_cdf
    n = SHUFFLES * n_points
    values = np.array([quantile((i + 0.5) / n) for i in range(n // 2)])
    values = np.concatenate([values, -values[::-1]]).reshape(n_points, SHUFFLES)
    for stratum in values:
        rng.shuffle(stratum)
    return read_only(np.ascontiguousarray(rng.permuted(values.T, axis=1)))


class PointMemory(NamedTuple):
    """Working memory for the points of one user."""

    posterior: Posterior
    log: FloatArray  # (2 b m,): free, strict
    share: FloatArray  # (2 b m,)
    component: IntArray  # (n,): the version that a point stands for
    z: FloatArray  # (R, n): dz of each point
    column: FloatArray  # (R,)
    mean: FloatArray  # (k,): the tastes' mean under the component in hand
    pull: FloatArray  # (k,): h
    cell: FloatArray  # (k,): 1 / variance of the arm's cell
    average: FloatArray  # (n,): the noise that moves all arms of a point alike
    point: FloatArray  # (k,): one point, to project
    weight: FloatArray  # (k,): 1 / variance
    fit: FloatArray  # (k,)


@kernel
def make_point_memory(c: Components, n_points: int) -> PointMemory:
    """Allocate the working memory."""
    j, k = len(c.factor) * c.mean.shape[1], c.mean.shape[2]
    size = c.loading.shape[1] + c.direction.shape[3]
    return PointMemory(
        make_memory(c),
        np.empty(2 * j),
        np.empty(2 * j),
        np.empty(n_points, np.int64),
        np.empty((size, n_points)),
        np.empty(size),
        np.empty(k),
        np.empty(k),
        np.empty(k),
        np.empty(n_points),
        np.empty(k),
        np.empty(k),
        np.empty(k),
    )


def points_of_users(
    counts: FloatArray, cells: Cells, allowed: BoolArray, x: Mixture, n_points: int
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return points (n, k, n_points) on the link's scale, which allowed arm is on top, and shares.

    The shares are those of all versions of the components, (n, 2 b m).
    """
    n, k = counts.shape
    points, top = np.empty((n, k, n_points)), np.empty((n, n_points), np.int64)
    shares = np.empty((n, 2 * len(x.components.factor) * x.components.mean.shape[1]))
    given = cells, turns_of(counts), writable(allowed), x, shuffled_quantiles(n_points)
    if x.orders.log_strict == -np.inf:
        draw_free_points(*given, points, top, shares)
    else:
        draw_points(*given, make_scratch(k), points, top, shares)
    return points, top, shares


def turns_of(counts: FloatArray) -> IntArray:
    """Return which shuffles each user's points take: by plays, so that they change with every one.

    Whole counts give their sum; weights, whose sum hardly moves, a number that does.
    """
    mixed = counts @ np.arange(1.0, counts.shape[1] + 1.0)
    turns: IntArray = (counts.sum(axis=1) + TURNS * (mixed - np.floor(mixed))).astype(np.int64)
    return turns


@kernel
def draw_free_points(
    cells: Cells,
    turns: IntArray,
    allowed: BoolArray,
    x: Mixture,
    table: FloatArray,
    points: FloatArray,
    top: IntArray,
    shares: FloatArray,
) -> None:
    """Write the points of every user where orders are not trusted; projections are not compiled."""
    c, n = x.components, top.shape[1]
    r = make_point_memory(c, n)
    half = len(c.factor) * c.mean.shape[1]
    r.share[half:] = 0.0
    for u in range(len(points)):
        condition(u, cells, c, r.posterior)
        weigh(r.posterior.log, r.share[:half])
        shares[u] = r.share
        share_points((turns[u] * GOLDEN) % 1.0, r)
        first = 0
        while first < n:
            j, last = r.component[first], last_alike(first, r.component)
            read_component(u, j, cells, x, r)
            place(u, j, first, last, turns[u], x, table, r, points[u])
            first = last
        find_tops(0, n, allowed[u if len(allowed) > 1 else 0], points[u], r.average, top[u])


@kernel
def draw_points(
    cells: Cells,
    turns: IntArray,
    allowed: BoolArray,
    x: Mixture,
    table: FloatArray,
    scratch: Scratch,
    points: FloatArray,
    top: IntArray,
    shares: FloatArray,
) -> None:
    """Write the points of every user. O(b m cells R^2 + n k R) for n points."""
    c, n = x.components, top.shape[1]
    r = make_point_memory(c, n)
    half = len(c.factor) * c.mean.shape[1]
    for u in range(len(points)):
        some = allowed[u if len(allowed) > 1 else 0]
        condition(u, cells, c, r.posterior)
        weigh_versions(u, cells, x, r)
        shares[u] = r.share
        share_points((turns[u] * GOLDEN) % 1.0, r)
        first = 0
        while first < n:
            j, last = r.component[first], last_alike(first, r.component)
            read_component(u, j % half, cells, x, r)
            place(u, j % half, first, last, turns[u], x, table, r, points[u])
            if j >= half:
                inverse_variances(u, j % half, x, r)
                keep_order(u, j % half, first, last, some, x, r, scratch, points[u], top[u])
            else:
                find_tops(first, last, some, points[u], r.average, top[u])
            first = last


@kernel
def last_alike(first: int, component: IntArray) -> int:
    """Return where the points end that stand for the same version as the first."""
    last = first + 1
    while last < component.shape[0] and component[last] == component[first]:
        last += 1
    return last


@kernel
def share_points(phase: float, r: PointMemory) -> None:
    """Write which version each point stands for: as many points for each as its share says."""
    n, j, reached = r.component.shape[0], 0, r.share[0]
    for i in range(n):
        # Invariant: versions before j hold less than (i + phase) / n of the weight.
        while (i + phase) / n >= reached and j < r.share.shape[0] - 1:
            j += 1
            reached += r.share[j]
        r.component[i] = j


@kernel
def weigh_versions(u: int, cells: Cells, x: Mixture, r: PointMemory) -> None:
    """Write the shares of all components, free and strict.

    An order's chance is at most one, which bounds what a strict version can weigh.
    """
    p, o, half = r.posterior, x.orders, r.posterior.log.shape[0]
    at = u if o.log_order.shape[0] > 1 else 0
    best = -np.inf
    first = 0
    for j in range(half):
        r.log[j] = p.log[j] + o.log_free
        r.log[half + j] = -np.inf
        best = max(best, r.log[j])
        if o.log_strict == -np.inf:
            continue
        if p.log[j] - o.log_order[at, j] > p.log[first] - o.log_order[at, first]:
            first = j
    if o.log_strict > -np.inf:
        for i in range(-1, half):
            # The likeliest goes first: it raises the bar that saves most others their work.
            j = first if i < 0 else i
            if i == first:
                continue
            most = p.log[j] + o.log_strict - o.log_order[at, j]
            if most > best - FAR:
                read_component(u, j, cells, x, r)
                r.log[half + j] = most + order_chance(u, j, best - FAR - most, x, r)
                best = max(best, r.log[half + j])
    weigh(r.log, r.share)


@kernel
def read_component(u: int, j: int, cells: Cells, x: Mixture, r: PointMemory) -> None:
    """Write mean, pull and precision of the cells of all arms under component j. O(k R)."""
    c, p = x.components, r.posterior
    m, at = c.mean.shape[1], u if c.mean.shape[0] > 1 else 0
    f, s, row = c.factor[j // m], j % m, j if cells.value.shape[0] > 1 else 0
    for a in range(r.mean.shape[0]):
        gather(at, s, a, f, c, p.row)
        r.mean[a] = f * c.mean[at, s, a] + dot(p.row, p.centre[j])
        r.pull[a] = r.cell[a] = 0.0
    for i in range(cells.start[u], cells.start[u + 1]):
        a = cells.arm[i]
        own = f * f * c.own[at, s, a]
        r.pull[a] = own / (own + cells.variance[row, i])
        r.cell[a] = 1.0 / cells.variance[row, i]
        r.mean[a] += r.pull[a] * (cells.value[row, i] - r.mean[a])
    lift = cells.lift[u if cells.lift.shape[0] > 1 else 0]
    for a in range(r.mean.shape[0]):
        r.mean[a] += lift[a]


@kernel
def order_chance(u: int, j: int, least: float, x: Mixture, r: PointMemory) -> float:
    """Return the log chance of the order under component j: the sum of log Phi(gap / sd).

    Where it falls below ``least`` it is -inf. O(k R^2).
    """
    c, p, o = x.components, r.posterior, x.orders
    m, at = c.mean.shape[1], u if c.mean.shape[0] > 1 else 0
    f, s = c.factor[j // m], j % m
    upper, lower = o.upper[at, s], o.lower[at, s]
    log = 0.0
    for e in range(upper.shape[0]):
        a, b = upper[e], lower[e]
        if a < 0:
            break
        gather(at, s, a, f, c, r.column)
        gather(at, s, b, f, c, p.row)
        for i in range(p.row.shape[0]):
            p.row[i] = (1.0 - r.pull[a]) * r.column[i] - (1.0 - r.pull[b]) * p.row[i]
        variance = (
            f * f * (c.own[at, s, a] * (1.0 - r.pull[a]) + c.own[at, s, b] * (1.0 - r.pull[b]))
        )
        variance += forward(p.lower[j], p.row)
        z = (r.mean[a] - r.mean[b]) / math.sqrt(max(variance, LEAST_VARIANCE))
        if z >= SURE:
            continue
        if z > DEEP:
            where = (z - DEEP) * STEPS
            i = int(where)
            log += o.log_phi[i] + (where - i) * (o.log_phi[i + 1] - o.log_phi[i])
        else:
            log -= 0.5 * z * z + math.log(-z * math.sqrt(2.0 * math.pi))
        if log < least:
            return -np.inf
    return log


@kernel
def prior_chances(c: Components, orders: Strict, lift: FloatArray, out: FloatArray) -> None:
    """Write the log chance of each component's order before any reward, (u, b m)."""
    none, no_arm = np.empty((1, 0)), np.empty(0, np.int64)
    start = np.zeros(len(out) + 1, np.int64)
    cells = Cells(start, no_arm, none, none, np.zeros((len(out), 1)), lift)
    x = Mixture(c, np.empty((0, 0, 0)), no_arm, orders)
    r = make_point_memory(c, 1)
    for u in range(len(out)):
        condition(u, cells, c, r.posterior)
        for j in range(out.shape[1]):
            read_component(u, j, cells, x, r)
            out[u, j] = order_chance(u, j, -np.inf, x, r)


@kernel
def place(
    u: int, j: int, first: int, last: int, turn: int, x: Mixture, table: FloatArray,
    r: PointMemory, points: FloatArray,
) -> None:  # fmt: skip
    """Write points of component j, without what moves all arms alike. O(k R) for a point."""
    c, p, k = x.components, r.posterior, points.shape[0]
    m, at = c.mean.shape[1], u if c.mean.shape[0] > 1 else 0
    f, s, size = c.factor[j // m], j % m, p.row.shape[0]
    level = x.level[u if x.level.shape[0] > 1 else 0, j]
    n, average = last - first, r.average[first:last]  # slices from 0 are added up in parallel
    for q in range(size):
        normals, z = table[(turn * STRIDE + x.shuffle[q]) % table.shape[0], first:last], r.z[q]
        for i in range(n):
            z[i] = normals[i]
    for i in range(n):
        for q in range(size):
            r.column[q] = r.z[q, i]
        backward(p.lower[j], r.column)
        for q in range(size):
            r.z[q, i] = r.column[q]
        average[i] = 0.0
    total = 0.0
    for a in range(k):
        gather(at, s, a, f, c, p.row)
        free = 1.0 - r.pull[a]
        own = math.sqrt(f * f * c.own[at, s, a] * free)
        weight, mean = level[a] + r.cell[a], r.mean[a]
        total += weight
        normals = table[(turn * STRIDE + x.shuffle[size] + a) % table.shape[0], first:last]
        row = points[a, first:last]
        for i in range(n):
            row[i] = own * normals[i]
        for q in range(size):
            part, z = free * p.row[q], r.z[q]
            if part != 0.0:
                for i in range(n):
                    row[i] += part * z[i]
        for i in range(n):
            average[i] += weight * row[i]
            row[i] += mean
    for i in range(n):
        average[i] /= total
    for a in range(k):
        row = points[a, first:last]
        for i in range(n):
            row[i] -= average[i]


@kernel
def inverse_variances(u: int, j: int, x: Mixture, r: PointMemory) -> None:
    """Write 1 / variance of each arm under component j, less that of all arms together.

    With Lambda the posterior's precision, the average with the weights Lambda 1 has the variance
    1 / (1' Lambda 1), and the same covariance with every arm.
    """
    c, p = x.components, r.posterior
    m, at = c.mean.shape[1], u if c.mean.shape[0] > 1 else 0
    f, s = c.factor[j // m], j % m
    level = x.level[u if x.level.shape[0] > 1 else 0, j]
    total = 0.0
    for a in range(r.mean.shape[0]):
        total += level[a] + r.cell[a]
    for a in range(r.mean.shape[0]):
        gather(at, s, a, f, c, p.row)
        free = 1.0 - r.pull[a]
        own = (
            f * f * c.own[at, s, a] * free + free * free * forward(p.lower[j], p.row) - 1.0 / total
        )
        r.weight[a] = 1.0 / max(own, LEAST_VARIANCE)


@kernel
def find_tops(
    first: int, last: int, allowed: BoolArray, points: FloatArray, best: FloatArray, top: IntArray
) -> None:
    """Write the allowed arm of the highest taste in each point; ``best`` is working memory."""
    n, highest, arm = last - first, best[first:last], top[first:last]
    for i in range(n):
        highest[i], arm[i] = -np.inf, -1
    for a in range(allowed.shape[0]):
        if allowed[a]:
            row = points[a, first:last]
            for i in range(n):
                if row[i] > highest[i]:
                    highest[i], arm[i] = row[i], a


@kernel
def keep_order(
    u: int, j: int, first: int, last: int, allowed: BoolArray, x: Mixture, r: PointMemory,
    scratch: Scratch, points: FloatArray, top: IntArray,
) -> None:  # fmt: skip
    """Project points on the order of component j; of arms that tie, the upper is on top."""
    t, k = x.orders.tables, points.shape[0]
    at, s = u if t.kind.shape[0] > 1 else 0, j % t.kind.shape[1]
    for i in range(first, last):
        for a in range(k):
            r.point[a] = points[a, i]
        if breaks_order(r.point, x.orders.upper[at, s], x.orders.lower[at, s]):
            fit_one(r.point, r.weight, t, at, s, -1, r.fit, scratch)
            for a in range(k):
                points[a, i] = r.point[a] = r.fit[a]
        best = -1
        for q in range(k):
            a = t.sequence[at, s, q]
            if allowed[a] and (best < 0 or r.point[a] > r.point[best]):
                best = a
        top[i] = best


@kernel
def breaks_order(point: FloatArray, upper: IntArray, lower: IntArray) -> bool:
    """Tell whether a direct relation does not hold."""
    broken = False
    for e in range(upper.shape[0]):
        broken |= upper[e] >= 0 and point[upper[e]] < point[lower[e]]
    return broken


# Draws of the posterior at random ---------------------------------------------------------------


def draw_tastes(
    prior: "Prior",
    counts: FloatArray,
    sums: FloatArray,
    rng: np.random.Generator,
    lifts: FloatArray | None = None,
) -> FloatArray:
    """Return one draw of each user's tastes, (n, k), on the link's scale."""
    c = prior.components
    cells = settled_cells(counts, sums, prior.likelihood, c, lifts)
    size = c.loading.shape[1] + c.direction.shape[3]
    out, n = np.empty(counts.shape), len(counts)
    noise = rng.random(n), rng.standard_normal((n, size)), rng.standard_normal(counts.shape)
    nothing = np.empty((0, 0, 0)), np.empty(0, np.int64)
    draw_rows(cells, Mixture(c, *nothing, _strict(c, None, 0.0)), *noise, out)
    return out


@kernel
def draw_rows(
    cells: Cells,
    x: Mixture,
    uniform: FloatArray,
    shared: FloatArray,
    own: FloatArray,
    out: FloatArray,
) -> None:
    """Write a draw of every user's tastes: the component, z, and each arm's own part."""
    c = x.components
    r, m = make_point_memory(c, 1), c.mean.shape[1]
    for u in range(len(out)):
        at = u if len(c.mean) > 1 else 0
        condition(u, cells, c, r.posterior)
        share = r.share[: len(r.posterior.log)]
        weigh(r.posterior.log, share)
        j, reached = 0, share[0]
        while uniform[u] >= reached and j < len(share) - 1:
            j += 1
            reached += share[j]
        read_component(u, j, cells, x, r)
        r.column[:] = shared[u]
        backward(r.posterior.lower[j], r.column)
        f, s = c.factor[j // m], j % m
        for a in range(out.shape[1]):
            gather(at, s, a, f, c, r.posterior.row)
            free = 1.0 - r.pull[a]
            sd = math.sqrt(f * f * c.own[at, s, a] * free)
            out[u, a] = r.mean[a] + free * dot(r.posterior.row, r.column) + sd * own[u, a]
