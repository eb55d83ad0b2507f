"""Plain twins of beliefs: dense Gaussians for posteriors, loops over arms for points."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.beliefs.points import log_normal_table, shuffled_quantiles
from lobandits.beliefs.posterior import Components
from lobandits.orders import LatentOrders, PartialOrder
from lobandits.projection import project

GOLDEN, STRIDE = 0.6180339887498949, 40503
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(3)


class Component(NamedTuple):
    """A state with an overall factor: tastes ~ mean + columns z + N(0, own)."""

    log_share: float
    mean: FloatArray  # (k,)
    columns: FloatArray  # (k, R)
    own: FloatArray  # (k,)
    state: int

    @property
    def covariance(self) -> FloatArray:
        """C, written out."""
        c: FloatArray = self.columns @ self.columns.T + np.diag(self.own)
        return c


class Evidence(NamedTuple):
    """The cells of one user: arms, values, variances, and what their log evidence lacks."""

    arms: list[int]
    value: FloatArray
    variance: FloatArray
    rest: float


def components_of(prior: Prior) -> list[Component]:
    """All components of a prior from its fields: factors, and in each of them the states."""
    found = []
    for f in prior.factors:
        for s in range(prior.n_states):
            away = prior.means[s] - prior.means[s].mean()
            columns = [prior.loadings, f * prior.scales[s] * away[:, None]]
            if prior.directions is not None:
                columns.append(f * prior.directions[s])
                if not prior.scales.any():
                    del columns[1]  # no column, so that others take the same normals
            log = math.log(prior.shares[s] / len(prior.factors))
            found.append(
                Component(log, f * prior.means[s], np.hstack(columns), f**2 * prior.state_own[s], s)
            )
    return found


def components_of_user(c: Components, user: int) -> list[Component]:
    """All components of one user, as kernels read them."""
    m = c.mean.shape[1]
    return [
        Component(
            float(c.log_share[user, s]),
            f * c.mean[user, s],
            np.hstack([c.loading, f * c.direction[user, s]]),
            f**2 * c.own[user, s],
            s,
        )
        for f in c.factor
        for s in range(m)
    ]


def posterior(c: Component, cells: Evidence) -> tuple[FloatArray, FloatArray, float]:
    """Mean and covariance of all tastes given cells, and the cells' log evidence."""
    seen, cov = cells.arms, c.covariance
    if not seen:
        return c.mean, cov, cells.rest
    total = cov[np.ix_(seen, seen)] + np.diag(cells.variance)
    gain = np.linalg.solve(total, cov[seen]).T
    log = float(multivariate_normal.logpdf(cells.value, c.mean[seen], total))
    mean = c.mean + gain @ (cells.value - c.mean[seen])
    return mean, cov - gain @ cov[seen], log + cells.rest


def cells_of(
    likelihood: Likelihood, counts: FloatArray | IntArray, sums: FloatArray, c: Component
) -> Evidence:
    """The cells of one user under a component: by hand, in five rounds where need be."""
    arms = [int(a) for a in np.flatnonzero(counts)]
    n, y = counts[arms].astype(float), sums[arms] / counts[arms]
    if isinstance(likelihood, Gaussian):
        sigma = np.broadcast_to(likelihood.sigma, len(c.mean))[arms]
        return Evidence(arms, y, sigma**2 / n, 0.0)
    start = likelihood.link((n * y + 0.5) / (n + 1))
    cells = Evidence(arms, start, 1 / (n * likelihood.slope(start)), 0.0)
    for _ in range(5):
        e, v = believed(c, cells)
        slope = expected(likelihood.slope, likelihood, e, v)
        gap = y - expected(likelihood.mean, likelihood, e, v)
        cells = Evidence(arms, e + gap / slope, 1 / (n * slope), 0.0)
    e, v = believed(c, cells)
    gaussian = ((cells.value - e) ** 2 + v) / cells.variance + np.log(2 * np.pi * cells.variance)
    rest = expected_log(likelihood, n, n * y, e, v) + 0.5 * gaussian
    return cells._replace(rest=float(rest.sum()))


def believed(c: Component, cells: Evidence) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the tastes behind the cells."""
    mean, cov, _ = posterior(c, cells)
    return mean[cells.arms], np.diag(cov)[cells.arms]


def expected(f: object, likelihood: Likelihood, e: FloatArray, v: FloatArray) -> FloatArray:
    """E f(eta), for eta ~ N(e, v): at three nodes, of counts in closed form."""
    if isinstance(likelihood, Poisson):
        return np.exp(e + v / 2)
    assert callable(f)
    at = sum(w * f(e + x * np.sqrt(v)) for x, w in zip(NODES, WEIGHTS, strict=True))
    return np.asarray(at / WEIGHTS.sum())


def expected_log(
    likelihood: Likelihood, n: FloatArray, total: FloatArray, e: FloatArray, v: FloatArray
) -> FloatArray:
    """E log p(rewards), in their order, without factorials."""
    if isinstance(likelihood, Poisson):
        return np.asarray(total * e - n * np.exp(e + v / 2))
    assert isinstance(likelihood, Bernoulli)
    return expected(lambda eta: total * eta - n * np.logaddexp(0, eta), likelihood, e, v)


def mixture(
    components: Sequence[Component], likelihood: Likelihood, counts: FloatArray, sums: FloatArray
) -> tuple[FloatArray, float, list[FloatArray], list[FloatArray]]:
    """Shares of the components, log evidence, and tastes' means and covariances under each."""
    logs, means, covariances = [], [], []
    for c in components:
        mean, cov, log = posterior(c, cells_of(likelihood, counts, sums, c))
        logs.append(c.log_share + log)
        means.append(mean)
        covariances.append(cov)
    total = float(np.logaddexp.reduce(logs))
    return np.exp(np.array(logs) - total), total, means, covariances


# Points ------------------------------------------------------------------------------------------


def log_phi(z: float) -> float:
    """log Phi as kernels read it: a table, its asymptote below, nothing above."""
    if z >= 6:
        return 0.0
    if z <= -30:
        return -0.5 * z * z - math.log(-z * math.sqrt(2 * math.pi))
    table = log_normal_table()
    return float(np.interp((z + 30) * 128, np.arange(len(table)), table))


def order_chance(order: PartialOrder, mean: FloatArray, cov: FloatArray) -> float:
    """The sum of log Phi(gap / sd) over direct relations."""
    above = order.precedes
    log = 0.0
    for a, b in np.argwhere(above):
        if not (above[a] & above[:, b]).any():
            sd = math.sqrt(max(cov[a, a] + cov[b, b] - 2 * cov[a, b], 1e-30))
            log += log_phi((mean[a] - mean[b]) / sd)
    return log


def version_shares(
    components: Sequence[Component],
    cells: Sequence[Evidence],
    orders: LatentOrders | None,
    trust: float,
) -> FloatArray:
    """Shares of free and of strict versions; strict ones far below the best count as nothing."""
    half = len(components)
    log = [c.log_share + posterior(c, e)[2] for c, e in zip(components, cells, strict=True)]
    logs = np.full(2 * half, -np.inf)
    if orders is None or trust == 0:
        logs[:half] = log
    else:
        before = [order_chance(orders[c.state], c.mean, c.covariance) for c in components]
        logs[:half] = np.array(log) + (math.log(1 - trust) if trust < 1 else -np.inf)
        best = logs.max()
        most = [x + math.log(trust) - b for x, b in zip(log, before, strict=True)]
        first = int(np.argmax(np.array(log) - before))
        for j in [first, *(j for j in range(half) if j != first)]:
            if most[j] > best - 8:
                c = components[j]
                mean, cov, _ = posterior(c, cells[j])
                value = most[j] + order_chance(orders[c.state], mean, cov)
                logs[half + j] = value if value >= best - 8 else -np.inf
                best = max(best, logs[half + j])
    weight = np.exp(logs - logs.max())
    shares: FloatArray = weight / weight.sum()
    return shares


def points(
    components: Sequence[Component],
    cells: Sequence[Evidence],
    plays: int,
    n: int,
    shuffle: Sequence[int] | None = None,
) -> list[FloatArray]:
    """Where point i stands under each component, (n, k): without what moves all arms alike."""
    table = shuffled_quantiles(n)
    found = []
    for c, e in zip(components, cells, strict=True):
        size, k = c.columns.shape[1], len(c.mean)
        at = list(range(size + 1)) if shuffle is None else list(shuffle)
        q, pull, weight = np.eye(size), np.zeros(k), np.linalg.inv(c.covariance).sum(axis=1)
        for arm, variance in zip(e.arms, e.variance, strict=True):
            q += np.outer(c.columns[arm], c.columns[arm]) / (c.own[arm] + variance)
            pull[arm] = c.own[arm] / (c.own[arm] + variance)
            weight[arm] += 1 / variance
        normal = [table[(plays * STRIDE + i) % len(table)] for i in at[:-1]]
        own = [table[(plays * STRIDE + at[-1] + a) % len(table)] for a in range(k)]
        dz = np.linalg.solve(np.linalg.cholesky(q).T, np.array(normal).reshape(size, n))
        moved = (1 - pull)[:, None] * (c.columns @ dz)
        noise = moved + np.sqrt(c.own * (1 - pull))[:, None] * np.array(own)
        mean, _, _ = posterior(c, e)
        found.append((mean[:, None] + noise - weight @ noise / weight.sum()).T)
    return found


def projected(c: Component, cells: Evidence, point: FloatArray, order: PartialOrder) -> FloatArray:
    """The point in the order, nearest by the variances of the arms but for what all share."""
    _, cov, _ = posterior(c, cells)
    own = np.diag(cov) - 1 / np.linalg.inv(cov).sum()
    near: FloatArray = project(point, 1 / np.maximum(own, 1e-30), order)
    return near


def points_of_user(
    components: Sequence[Component],
    cells: Sequence[Evidence],
    plays: int,
    n: int,
    allowed: Sequence[bool],
    orders: LatentOrders | None = None,
    trust: float = 0.0,
    shuffle: Sequence[int] | None = None,
) -> tuple[FloatArray, list[int]]:
    """The points (n, k) on the link's scale, and the allowed arm on top of each."""
    shares = version_shares(components, cells, orders, trust)
    where = (np.arange(n) + plays * GOLDEN % 1.0) / n
    version = np.minimum(np.searchsorted(np.cumsum(shares), where, "right"), len(shares) - 1)
    placed = points(components, cells, plays, n, shuffle)
    out, tops = np.empty((n, len(components[0].mean))), []
    for i, j in enumerate(version):
        c = components[j % len(components)]
        out[i] = placed[j % len(components)][i]
        ranked = list(range(len(c.mean)))
        if j >= len(components):
            assert orders is not None
            out[i] = projected(c, cells[j % len(components)], out[i], orders[c.state])
            ranked = orders.tables.sequence[0, c.state].tolist()  # of equals, the upper
        best = max(out[i, a] for a in ranked if allowed[a])
        near = 1e-9 * (1 + abs(best))
        tops.append(next(a for a in ranked if allowed[a] and out[i, a] >= best - near))
    return out, tops
