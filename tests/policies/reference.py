"""Plain Python twins of the policies, written from the listings: lists, loops and a history.

Each twin is one user. `choose` gets the random numbers of one decision; `record` one reward.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from lobandits.orders import LatentOrders

CUT = 1e-12


def tie(candidates: Sequence[int], u: float) -> tuple[int, float]:
    """The floor(u n)-th of n candidates, and what is left of u."""
    share = u * len(candidates)
    return candidates[int(share)], share - int(share)


def argmax_all(values: Sequence[float]) -> list[int]:
    return [i for i, value in enumerate(values) if value == max(values)]


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
        self.sigma, self.t = sigma, 1
        self.N = [0] * n_arms
        self.mu = [0.0] * n_arms

    def indices(self) -> list[float]:
        return [
            math.inf
            if self.N[a] == 0
            else self.mu[a] + math.sqrt(2 * self.sigma**2 * math.log(self.t) / self.N[a])
            for a in self.arms
        ]

    def choose(self, u: float) -> int:
        return self.arms[tie(argmax_all(self.indices()), u)[0]]

    def record(self, a: int, r: float) -> None:
        self.mu[a] = (self.N[a] * self.mu[a] + r) / (self.N[a] + 1)
        self.N[a] += 1
        self.t += 1


class TSTwin:
    """Listing "Gaussian-Gaussian TS bandit"; the mean uses the variance before the update."""

    def __init__(
        self, n_arms: int, sigma: float, prior_mean: float = 0.0, prior_std: float = 100.0
    ) -> None:
        self.sigma = sigma
        self.mu = [prior_mean] * n_arms
        self.var = [prior_std**2] * n_arms

    def choose(self, z: Sequence[float]) -> int:
        draws = [m + math.sqrt(v) * x for m, v, x in zip(self.mu, self.var, z, strict=True)]
        return draws.index(max(draws))

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
        self.means, self.sigma, self.horizon = means, sigma, horizon
        self.constant, self.margin = constant, margin
        self.history: list[tuple[int, int, float]] = []
        self.belief = -1

    def excess(self, s: int) -> float:
        mine = [(a, r) for b, a, r in self.history if b == s]
        gap = sum(self.means[s][a] - self.margin - r for a, r in mine)
        return gap - self.sigma * math.sqrt(self.constant * len(mine) * math.log(self.horizon))

    def choose(self, u: float) -> int:
        states = range(len(self.means))
        excess = [self.excess(s) for s in states]
        consistent = [s for s in states if excess[s] <= 0]
        if consistent:
            best = max(max(self.means[s]) for s in consistent)
            believed = [s for s in consistent if max(self.means[s]) == best]
        else:
            believed = [s for s in states if excess[s] == min(excess)]
        visits = [sum(b == s for b, _, _ in self.history) for s in believed]
        kept = [s for s, n in zip(believed, visits, strict=True) if n == max(visits)]
        self.belief, left = tie(kept, u)
        return tie(argmax_all(self.means[self.belief]), left)[0]

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

    def choose(self, u: float) -> int:
        played = {a for a, _ in self.history}
        untried = sorted({a for mu in self.means for a in argmax_all(mu)} - played)
        if self.first and untried:
            return tie(untried, u)[0]
        s, left = sample(self.weights(), u)
        return tie(argmax_all(self.means[s]), left)[0]

    def record(self, a: int, r: float) -> None:
        self.history.append((a, r))


def top_arms(orders: LatentOrders) -> list[int]:
    """Arms that no arm beats in some state."""
    return [
        a
        for a in range(orders.n_arms)
        if any(not any(state.precedes[b, a] for b in range(orders.n_arms)) for state in orders)
    ]


class RelativeTwin:
    """The appendix on relative feedback: inversions are counted duel by duel.

    A hypothesis is a state with one of its maximal arms on top; that arm is above all others.
    """

    def __init__(self, orders: LatentOrders, rho: float) -> None:
        self.orders, self.rho = orders, rho
        self.duels: list[tuple[int, int]] = []

    def inversions(self, s: int, top: int) -> int:
        above = self.orders[s].precedes
        return sum(
            bool(above[loser, winner]) or (loser == top and not above[winner, loser])
            for winner, loser in self.duels
        )

    def odds(self) -> list[float]:
        items = [
            (s, a)
            for s, order in enumerate(self.orders)
            for a in range(self.orders.n_arms)
            if order.maximal[a]
        ]
        logs = [
            self.inversions(s, a) * math.log(0.5 - self.rho)
            - math.log(self.orders[s].maximal.sum())
            for s, a in items
        ]
        odds = [0.0] * self.orders.n_arms
        for (_, a), weight in zip(items, posterior(logs), strict=True):
            odds[a] += weight
        return odds

    def choose(self, noise: Sequence[float]) -> tuple[int, int]:
        odds = self.odds()
        first, second = (sample(odds, u)[0] for u in noise)
        return first, second

    def record(self, pair: tuple[int, int], winner: int) -> None:
        loser = pair[1] if winner == pair[0] else pair[0]
        if loser != winner:
            self.duels.append((winner, loser))
