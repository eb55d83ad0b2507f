"""Plain Python twins of the policies, written from the listings: lists, loops and a history.

Each twin is one user. `choose` gets the random numbers of one decision; `record` one reward. Only
the arms in ``allowed``, one bool per arm, are played; `chances` are those of `choose`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import norm

from lobandits.orders import LatentOrders

CUT = 1e-12


def tie(candidates: Sequence[int], u: float) -> tuple[int, float]:
    """The floor(u n)-th of n candidates, and what is left of u."""
    share = u * len(candidates)
    return candidates[int(share)], share - int(share)


def best_among(values: Sequence[float], allowed: Sequence[bool]) -> list[int]:
    """The allowed places with the largest value."""
    best = max(value for value, may in zip(values, allowed, strict=True) if may)
    return [i for i, value in enumerate(values) if allowed[i] and value == best]


def alike(candidates: Sequence[int], n_arms: int) -> list[float]:
    """Equal chances for the candidates."""
    return [(a in candidates) / len(candidates) for a in range(n_arms)]


def sample(weights: Sequence[float], u: float) -> tuple[int, float]:
    """Inverse distribution function in the order of ``weights``, and what is left of u."""
    target = u * sum(weights)
    for i, weight in enumerate(weights):
        if weight > 0 and target < weight:
            return i, target / weight
        target -= weight
    raise AssertionError("u is too close to one for this test")


def posterior(logs: Sequence[float]) -> list[float]:
    best = max(logs)
    return [math.exp(x - best) if math.exp(x - best) >= CUT else 0.0 for x in logs]


class UCBTwin:
    """Listing "Classical UCB bandit", on the arms given."""

    def __init__(self, n_arms: int, sigma: float, arms: Sequence[int] | None = None) -> None:
        self.arms = list(range(n_arms)) if arms is None else list(arms)
        self.allowed = [True] * n_arms
        self.sigma, self.t = sigma, 1
        self.N = [0] * n_arms
        self.mu = [0.0] * n_arms

    def indices(self) -> list[float]:
        return [
            math.inf
            if self.N[a] == 0
            else self.mu[a] + math.sqrt(2 * self.sigma**2 * math.log(self.t) / self.N[a])
            for a in range(len(self.N))
        ]

    def best(self) -> list[int]:
        may = [self.allowed[a] and a in self.arms for a in range(len(self.N))]
        return best_among(self.indices(), may)

    def choose(self, u: float) -> int:
        return tie(self.best(), u)[0]

    def chances(self) -> list[float]:
        return alike(self.best(), len(self.N))

    def record(self, a: int, r: float) -> None:
        self.mu[a] = (self.N[a] * self.mu[a] + r) / (self.N[a] + 1)
        self.N[a] += 1
        self.t += 1


class TSTwin:
    """Listing "Gaussian-Gaussian TS bandit"; the mean uses the variance before the update.

    The prior is one for all arms, or one for each (Algorithm 4).
    """

    def __init__(
        self,
        n_arms: int,
        sigma: float,
        prior_mean: float | Sequence[float] = 0.0,
        prior_std: float | Sequence[float] = 100.0,
    ) -> None:
        self.allowed = [True] * n_arms
        self.sigma = sigma
        self.mu = [prior_mean] * n_arms if isinstance(prior_mean, float) else list(prior_mean)
        stds = [prior_std] * n_arms if isinstance(prior_std, float) else list(prior_std)
        self.var = [std**2 for std in stds]

    def choose(self, z: Sequence[float]) -> int:
        draws = [m + math.sqrt(v) * x for m, v, x in zip(self.mu, self.var, z, strict=True)]
        return best_among(draws, self.allowed)[0]

    def chances(self) -> list[float]:
        """The integral of pdf_a(x) prod_{b != a} cdf_b(x) dx over the allowed arms, by scipy."""
        arms = [a for a, may in enumerate(self.allowed) if may]
        means, stds = np.array(self.mu), np.sqrt(self.var)

        def density(x: float, a: int) -> float:
            others = [b for b in arms if b != a]
            cdf = norm.cdf((x - means[others]) / stds[others])
            return float(norm.pdf(x, means[a], stds[a]) * np.prod(cdf))

        steps = (-9, -5, -3, -1, 0, 1, 3, 5, 9)
        cuts = sorted({float(means[a] + z * stds[a]) for a in arms for z in steps})
        chances = [0.0] * len(means)
        for a in arms:
            chances[a] = sum(quad(density, lo, hi, args=(a,))[0] for lo, hi in pairwise(cuts))
        return chances

    def record(self, a: int, r: float) -> None:
        after = 1 / (1 / self.var[a] + 1 / self.sigma**2)
        self.mu[a] = after * (self.mu[a] / self.var[a] + r / self.sigma**2)
        self.var[a] = after


class MUCBTwin:
    """mUCB of Hong et al. (2020): a history of (belief, arm, reward)."""

    def __init__(
        self,
        means: Sequence[Sequence[float]],
        sigma: float,
        horizon: int,
        constant: float = 6.0,
        margin: float = 0.0,
    ) -> None:
        self.allowed = [True] * len(means[0])
        self.means, self.sigma, self.horizon = means, sigma, horizon
        self.constant, self.margin = constant, margin
        self.history: list[tuple[int, int, float]] = []
        self.belief = -1

    def excess(self, s: int) -> float:
        mine = [(a, r) for b, a, r in self.history if b == s]
        gap = sum(self.means[s][a] - self.margin - r for a, r in mine)
        return gap - self.sigma * math.sqrt(self.constant * len(mine) * math.log(self.horizon))

    def believed(self) -> list[int]:
        states = range(len(self.means))
        excess = [self.excess(s) for s in states]
        consistent = [s for s in states if excess[s] <= 0]
        if consistent:
            tops = {s: self.means[s][self.best(s)[0]] for s in consistent}
            believed = [s for s in consistent if tops[s] == max(tops.values())]
        else:
            believed = [s for s in states if excess[s] == min(excess)]
        visits = [sum(b == s for b, _, _ in self.history) for s in believed]
        return [s for s, n in zip(believed, visits, strict=True) if n == max(visits)]

    def best(self, s: int) -> list[int]:
        return best_among(self.means[s], self.allowed)

    def choose(self, u: float) -> int:
        self.belief, left = tie(self.believed(), u)
        return tie(self.best(self.belief), left)[0]

    def chances(self) -> list[float]:
        believed = self.believed()
        rows = [alike(self.best(s), len(self.allowed)) for s in believed]
        return [sum(column) / len(believed) for column in zip(*rows, strict=True)]

    def record(self, a: int, r: float) -> None:
        self.history.append((self.belief, a, r))


class MTSTwin:
    """mTS of Hong et al. (2020): the likelihood of all rewards, one by one."""

    def __init__(
        self,
        means: Sequence[Sequence[float]],
        sigma: float,
        prior: Sequence[float] | None = None,
        best_arms_first: bool = False,
    ) -> None:
        self.allowed = [True] * len(means[0])
        self.means, self.sigma, self.first = means, sigma, best_arms_first
        self.prior = prior or [1.0 / len(means)] * len(means)
        self.history: list[tuple[int, float]] = []

    def weights(self) -> list[float]:
        logs = []
        for p, mu in zip(self.prior, self.means, strict=True):
            square = sum((Fraction(r) - Fraction(mu[a])) ** 2 for a, r in self.history)
            logs.append((math.log(p) if p > 0 else -math.inf, square))
        least = min(square for _, square in logs)
        return posterior(
            [log - float((square - least) / Fraction(2 * self.sigma**2)) for log, square in logs]
        )

    def best(self, s: int) -> list[int]:
        return best_among(self.means[s], self.allowed)

    def untried(self) -> list[int]:
        played = {a for a, _ in self.history}
        tops = {a for s in range(len(self.means)) for a in self.best(s)}
        return sorted(tops - played) if self.first else []

    def choose(self, u: float) -> int:
        if self.untried():
            return tie(self.untried(), u)[0]
        s, left = sample(self.weights(), u)
        return tie(self.best(s), left)[0]

    def chances(self) -> list[float]:
        if self.untried():
            return alike(self.untried(), len(self.allowed))
        weights = self.weights()
        rows = [alike(self.best(s), len(self.allowed)) for s in range(len(weights))]
        return [
            sum(w * p for w, p in zip(weights, column, strict=True)) / sum(weights)
            for column in zip(*rows, strict=True)
        ]

    def record(self, a: int, r: float) -> None:
        self.history.append((a, r))


def top_arms(orders: LatentOrders) -> list[int]:
    """Arms that no arm beats in some state."""
    return [
        a
        for a in range(orders.n_arms)
        if any(not any(state.precedes[b, a] for b in range(orders.n_arms)) for state in orders)
    ]
