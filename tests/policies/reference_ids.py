"""Plain twins of LobIMED and LobIDS: every state projected, every hypothesis and slope tried."""

import math

import numpy as np
from tests.policies.reference import alike, sample, tie
from tests.policies.reference_lob import History, above_allowed, tops_among
from tests.projection.reference import solved

from lobandits._checks import BoolArray, FloatArray
from lobandits.orders import PartialOrder


class LobIMEDTwin(History):
    """The least D_a + log N_a, with log 0 = -1."""

    def best(self) -> list[int]:
        losses = self.losses()
        least = min(losses)
        index = [
            (loss - least) / (2 * self.sigma**2) + (math.log(self.N[a]) if self.N[a] else -1)
            for a, loss in enumerate(losses)
        ]
        slack = 1e-8 * (1 + least / (2 * self.sigma**2))
        return [a for a, value in enumerate(index) if value <= min(index) + slack]

    def choose(self, u: float) -> int:
        return tie(self.best(), u)[0]

    def chances(self) -> list[float]:
        return alike(self.best(), len(self.N))


def positions(above: BoolArray) -> FloatArray:
    """Arms below minus arms above, over twice the standard deviation of 0 ... k-1."""
    k = len(above)
    spread = np.std(np.arange(k)) or 1.0
    z: FloatArray = (above.sum(axis=1) - above.sum(axis=0)) / (2 * spread)
    return z


def groups(above: BoolArray) -> list[int]:
    """The least arm that each arm is connected to."""
    linked = above | above.T | np.eye(len(above), dtype=bool)
    for _ in above:
        linked = linked @ linked
    return [int(np.flatnonzero(row)[0]) for row in linked]


class LobIDSTwin(History):
    """The five steps, with dense Gaussian algebra for the working prior."""

    RHO = 0.3

    def choose(self, u: float) -> int:
        return sample(self.chances(), u)[0]

    def chances(self) -> list[float]:
        return self.first() if self.t == 1 else self.mixture()

    def first(self) -> list[float]:
        at = [positions(order.precedes) for order in self.orders]
        average = np.average(at, axis=0, weights=self.shares)
        best = average[self.allowed].max()
        tied = np.flatnonzero(np.array(self.allowed) & (average >= best - 1e-9))
        return alike(tied.tolist(), len(self.N))

    def mixture(self) -> list[float]:
        regret, information = self.judged(self.rows())
        chances = np.zeros(len(self.N))
        chances[self.allowed] = two_arms(regret[self.allowed], information[self.allowed])
        return list(chances)

    def rows(self) -> list[tuple[float, int, FloatArray, FloatArray]]:
        """Weight, arm on top, means and variances of all that matters."""
        weighted = self.weighted()
        total = sum(p for p, *_ in weighted)
        return [
            (p / total, top, *self.means(order, top, fit, beta))
            for p, order, top, fit, beta in weighted
        ]

    def weighted(self) -> list[tuple[float, PartialOrder, int, FloatArray, float]]:
        """Step 1 to 3: (weight, state, arm on top, fit, slope) of all that matters."""
        fits = self.fits()
        least = min(loss for *_, loss in fits)
        played = [self.mean(a) for a, n in enumerate(self.N) if n]
        unit = max(played) - min(played) + self.sigma
        betas = [4 * 1.6**-j * unit for j in range(10)]
        kept = []
        for s, top, fit, loss in fits:
            order = self.orders[s]
            gap = (loss - least) / (2 * self.sigma**2)
            if gap <= 40:
                logs = np.array([self.evidence(order, fit, beta) for beta in betas])
                rivals = len(tops_among(order, self.allowed))
                kept.append((order, top, fit, gap, logs, logs - gap - math.log(rivals)))
        highest = max(logs.max() for *_, logs in kept)
        total = sum(np.exp(logs - highest).sum() for *_, logs in kept)
        near = sum(gap <= math.log(self.t) for _, _, _, gap, _, _ in kept)
        floor = min(0.2, 3 / self.t)
        found = []
        for order, top, fit, gap, evidence, logs in kept:
            p = (1 - floor) * np.exp(logs - highest) / total
            if gap <= math.log(self.t):
                own = np.exp(evidence - evidence.max())
                p = p + floor / near * own / own.sum()
            for weight, beta in zip(p, betas, strict=True):
                if weight >= 1e-2 * floor / near:
                    found.append((float(weight), order, top, fit, beta))
        return found

    def prior(self, order: PartialOrder, beta: float) -> tuple[FloatArray, FloatArray]:
        """The line, and the covariance without the flat common alpha."""
        above = order.precedes
        k = len(above)
        group = groups(above)
        line = beta * positions(above)
        covariance = np.zeros((k, k))
        if len(set(group)) > 1:
            same = np.equal.outer(group, group)
            covariance[same] = beta**2
        return line, covariance

    def system(
        self, order: PartialOrder, fit: FloatArray, beta: float
    ) -> tuple[list[int], FloatArray, FloatArray, FloatArray]:
        """Played arms, their residuals, their covariance, and that of all alphas."""
        line, alphas = self.prior(order, beta)
        arms = [a for a, n in enumerate(self.N) if n]
        own = [(self.RHO * beta) ** 2 + self.sigma**2 / self.N[a] for a in arms]
        return arms, fit[arms] - line[arms], alphas[np.ix_(arms, arms)] + np.diag(own), alphas

    def evidence(self, order: PartialOrder, fit: FloatArray, beta: float) -> float:
        """log of the integral over alpha of N(residual; alpha 1, C), up to 2 pi."""
        _, residual, covariance, _ = self.system(order, fit, beta)
        inverse = np.linalg.inv(covariance)
        ones = np.ones(len(residual))
        flat = ones @ inverse @ ones
        alpha = ones @ inverse @ residual / flat
        rest = residual - alpha
        _, logdet = np.linalg.slogdet(covariance)
        return float(-0.5 * (logdet + np.log(flat) + rest @ inverse @ rest))

    def means(
        self, order: PartialOrder, top: int, fit: FloatArray, beta: float
    ) -> tuple[FloatArray, FloatArray]:
        """Step 4: shrunk to the line, in order, with the arm on top truly above the allowed."""
        arms, residual, covariance, alphas = self.system(order, fit, beta)
        k = len(self.N)
        inverse = np.linalg.inv(covariance)
        ones = np.ones(len(arms))
        flat = ones @ inverse @ ones
        alpha = ones @ inverse @ residual / flat
        gain = alphas[:, arms] @ inverse
        centre = alpha + gain @ (residual - alpha)
        free = 1 - gain @ ones
        spread = np.diag(alphas - gain @ alphas[arms]) + free**2 / flat
        line = centre + beta * positions(order.precedes)
        mean, variance = line.copy(), np.empty(k)
        square = (self.RHO * beta) ** 2
        for a, n in enumerate(self.N):
            shrunk = square / (square + self.sigma**2 / n) if n else 0.0
            if n:
                mean[a] = line[a] + shrunk * (fit[a] - line[a])
            variance[a] = (1 - shrunk) * square + (1 - shrunk) ** 2 * spread[a]
        unit = beta
        above = above_allowed(order, top, self.allowed)
        ordered = solved(mean / unit, unit**2 / variance, above) * unit
        others = [ordered[a] for a in range(k) if a != top and self.allowed[a]]
        if others:
            sd = math.sqrt(variance[top])
            x = (ordered[top] - max(others)) / sd
            density = math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
            cumulative = 0.5 * math.erfc(-x / math.sqrt(2))
            ordered[top] = max(others) + sd * (x + density / cumulative)
        return ordered, variance

    def judged(
        self, rows: list[tuple[float, int, FloatArray, FloatArray]]
    ) -> tuple[FloatArray, FloatArray]:
        """Step 5: expected regret and information of every arm."""
        k = len(self.N)
        tops = sorted({top for _, top, _, _ in rows})
        average = sum(p * mean for p, _, mean, _ in rows)
        between = np.zeros(k)
        within = np.zeros(k)
        for arm in tops:
            mine = [(p, mean, variance) for p, top, mean, variance in rows if top == arm]
            mass = sum(p for p, _, _ in mine)
            centre = sum(p * mean for p, mean, _ in mine) / mass
            between += mass * (centre - average) ** 2
            within += sum(p * ((mean - centre) ** 2 + variance) for p, mean, variance in mine)
        regret = sum(p * (mean[top] - mean) for p, top, mean, _ in rows)
        if len(tops) == 1:
            between[:] = 0.0
        return np.asarray(regret), 0.5 * np.log1p(between / (self.sigma**2 + within))


def two_arms(regret: FloatArray, information: FloatArray, power: float = 2.0) -> list[float]:
    """The mixture of two arms with the least (regret)^power / information; alike arms share."""
    k = len(regret)

    def alike(a: int) -> list[int]:
        near = np.abs(regret - regret[a]) <= 1e-7 * regret.max()
        near &= np.abs(information - information[a]) <= 1e-7 * information.max()
        return [int(b) for b in np.flatnonzero(near)]

    chances = np.zeros(k)
    if regret.min() <= 0 or information.max() <= 0:
        chances[alike(int(np.argmin(regret)))] += 1
        return list(chances / chances.sum())
    best = (math.inf, 0, 0, 1.0)
    for a in range(k):
        for b in range(k):
            for p in shares(regret[a], regret[b], information[a], information[b], power):
                gain = p * information[a] + (1 - p) * information[b]
                if gain > 0:
                    ratio = (p * regret[a] + (1 - p) * regret[b]) ** power / gain
                    best = min(best, (ratio, a, b, p))
    _, a, b, p = best
    for arm, chance in ((a, p), (b, 1 - p)):
        for same in alike(arm):
            chances[same] += chance / len(alike(arm))
    return list(chances)


def shares(da: float, db: float, ia: float, ib: float, power: float) -> list[float]:
    """Both ends, and where the derivative of the ratio vanishes, if between them."""
    found = [0.0, 1.0]
    if da != db and ia != ib:
        inside = (db / (da - db) - power * ib / (ia - ib)) / (power - 1)
        if 0 < inside < 1:
            found.append(float(inside))
    return found
