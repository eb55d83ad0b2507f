"""Twins of the policies on a prior: dense Gaussian algebra for every version of every state."""

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal, multivariate_t, norm
from tests.policies.reference import alike, best_among, sample, tie
from tests.policies.reference_ids import two_arms

from lobandits._checks import FloatArray
from lobandits.orders import PartialOrder
from lobandits.policies.mixture_points import point_tables
from lobandits.priors import Prior
from lobandits.projection import project


class Version(NamedTuple):
    """A part of the mixture: its log weight, how its points are placed, its order if it holds."""

    log: float
    mean: FloatArray
    root: FloatArray  # points are mean + root @ normals
    order: PartialOrder | None
    weights: FloatArray


class PriorTwin:
    """One user with counts and sums, and what the prior makes of them."""

    freedom = 0.0  # of Student's t; 0 for a Gaussian

    def __init__(self, prior: Prior, sigma: float) -> None:
        self.prior, self.sigma, k = prior, sigma, prior.n_arms
        self.N, self.total = np.zeros(k), np.zeros(k)
        self.allowed = [True] * k

    def record(self, a: int, r: float) -> None:
        self.N[a] += 1
        self.total[a] += r

    def evidence(self, mean: FloatArray, cov: FloatArray, freedom: float = 0.0) -> float:
        """The log density of the averages of the arms that were played."""
        seen = self.N > 0
        if not seen.any():
            return 0.0
        y, total = self.total[seen] / self.N[seen], cov[np.ix_(seen, seen)]
        total = total + np.diag(self.sigma**2 / self.N[seen])
        if freedom:
            return float(multivariate_t.logpdf(y, mean[seen], total, df=freedom))
        return float(multivariate_normal.logpdf(y, mean[seen], total))

    def conditioned(self, mean: FloatArray, cov: FloatArray) -> tuple[FloatArray, FloatArray]:
        w = self.N / self.sigma**2
        posterior = np.linalg.inv(np.linalg.inv(cov) + np.diag(w))
        return mean + posterior @ (self.total / self.sigma**2 - w * mean), posterior

    def state(self, s: int) -> tuple[float, Version]:
        """State s when it is free: the log chance that its order gained, and the version."""
        p, k = self.prior, self.prior.n_arms
        d = p.means[s] - p.means[s].mean()
        a = p.spread + p.shift**2
        cov = a + p.scales[s] ** 2 * np.outer(d, d)
        mean, after = self.conditioned(p.means[s], cov)
        precision = np.linalg.inv(a) + np.diag(self.N / self.sigma**2)
        shared = np.linalg.inv(precision)  # of all but the scale
        g = shared @ np.linalg.inv(a) @ d
        v = (after - shared)[0, 0] / g[0] ** 2  # after = shared + v g g'
        root = np.linalg.inv(np.linalg.cholesky(precision)).T
        ones = np.ones(k)
        level = precision @ ones / precision.sum()
        root = root - np.outer(ones, level @ root)
        weights = 1 / (np.diag(after) - 1 / precision.sum())
        ranking = np.argsort(-p.means[s]).tolist()
        gained = order_chance(ranking, mean, after) - order_chance(ranking, p.means[s], cov)
        log = math.log(p.shares[s]) + self.evidence(p.means[s], cov, self.freedom)
        columns = np.column_stack([root, math.sqrt(max(v, 0.0)) * g])
        return gained, Version(log, mean, columns, p.orders[s], weights)

    def stranger(self, share: float) -> Version:
        """Exchangeable arms: a level, and every arm on its own."""
        c, k = self.prior.components(share), self.prior.n_arms
        mean, cov = np.full(k, c.level), c.own * np.eye(k) + c.common
        after, _ = self.conditioned(mean, cov)
        w = self.N / self.sigma**2
        free = 1 + w * c.own
        spread = 1 / (1 / c.common + (w / free).sum())  # of the level
        root = np.column_stack([np.diag(np.sqrt(c.own / free)), math.sqrt(spread) / free])
        log = math.log(share) + self.evidence(mean, cov) if share else -math.inf
        return Version(log, after, root, None, np.ones(k))

    def points(self, n: int, trust: float, share: float) -> tuple[FloatArray, list[int]]:
        """The points of the posterior mixture, and which allowed arm is on top of each."""
        states = [self.state(s) for s in range(self.prior.n_states)]
        free = [v._replace(log=v.log + log(1 - trust) + log(1 - share)) for _, v in states]
        free = [v._replace(order=None) for v in free]
        strict = [v._replace(log=v.log + log(trust) + gain + log(1 - share)) for gain, v in states]
        versions = [*free, *strict, self.stranger(share)]
        logs = np.array([v.log for v in versions])
        shares = np.exp(logs - np.logaddexp.reduce(logs))
        plays, k = int(self.N.sum()), self.prior.n_arms
        tables = point_tables(n, k + 1)
        where = (np.arange(n) + plays * 0.6180339887498949 % 1.0) / n
        chosen = np.minimum(np.searchsorted(np.cumsum(shares), where, "right"), len(shares) - 1)
        points = [
            placed(versions[j], normal)
            for j, normal in zip(chosen, tables[plays % len(tables)].T, strict=True)
        ]
        tops = [self.top(versions[j], x) for j, x in zip(chosen, points, strict=True)]
        return np.array(points), tops

    def top(self, version: Version, point: FloatArray) -> int:
        """The highest allowed arm; of those that tie, the first in the order."""
        places = range(len(point)) if version.order is None else version.order.ranking
        best = max(point[a] for a in places if self.allowed[a])
        return next(a for a in places if self.allowed[a] and point[a] >= best - 1e-9)

    def choose(self, u: float) -> int:
        return sample(self.chances(), u)[0]

    def chances(self) -> list[float]:
        raise NotImplementedError


def log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def order_chance(ranking: list[int], mean: FloatArray, cov: FloatArray) -> float:
    upper, lower = ranking[:-1], ranking[1:]
    var = np.diag(cov)[upper] + np.diag(cov)[lower] - 2 * cov[upper, lower]
    return float(norm.logcdf((mean[upper] - mean[lower]) / np.sqrt(var)).sum())


def placed(version: Version, normal: FloatArray) -> FloatArray:
    point: FloatArray = version.mean + version.root @ normal
    return point if version.order is None else project(point, version.weights, version.order)


class PopularTwin(PriorTwin):
    """The best arm of the population."""

    def best(self) -> list[int]:
        means = sum(w * m for w, m in zip(self.prior.shares, self.prior.means, strict=True))
        return best_among(list(means), self.allowed)

    def choose(self, u: float) -> int:
        return tie(self.best(), u)[0]

    def chances(self) -> list[float]:
        return alike(self.best(), len(self.N))


class MixTSTwin(PriorTwin):
    """The share of 64 points with each arm on top."""

    def chances(self) -> list[float]:
        _, tops = self.points(64, trust=0.0, share=0.0)
        return [tops.count(a) / len(tops) for a in range(len(self.N))]


class LobBayesTwin(PriorTwin):
    """The mixture of two arms of the least information ratio over 32 points."""

    freedom = 2.0

    def power(self) -> float:
        """The exponent of regret: 6 at first, 2 in the end."""
        c = self.prior.population_covariance
        own = float(np.mean([c[a, a] - c.mean() for a in range(len(c))]))
        n_0 = self.sigma**2 / own
        return 2 + 16 * n_0 / (4 * n_0 + float(self.N.sum()))

    def chances(self) -> list[float]:
        points, tops = self.points(32, trust=0.5, share=0.1)
        x, top = np.array(points), np.array(tops)
        regret = (x[np.arange(len(x)), top][:, None] - x).mean(axis=0)
        information = np.zeros(x.shape[1])
        for b in set(tops):
            of = top == b
            information += of.mean() * (x[of].mean(axis=0) - x.mean(axis=0)) ** 2
        some, chances = np.array(self.allowed), np.zeros(x.shape[1])
        chances[some] = two_arms(regret[some], information[some], self.power())
        return list(chances)
