"""Twins of the policies on a prior: dense Gaussians, points in loops, every pair of arms tried."""

from collections.abc import Sequence

import numpy as np
from tests.beliefs.reference import (
    Component,
    cells_of,
    components_of,
    components_of_user,
    expected,
    mixture,
    points_of_user,
)
from tests.policies.reference import alike, best_among, sample, tie
from tests.rules.reference import moments, two_arms

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Gaussian, Likelihood, Prior
from lobandits.beliefs.from_orders import components_of_orders
from lobandits.orders import LatentOrders


class BeliefTwin:
    """One user with counts and sums, and points of what is believed of them."""

    orders: LatentOrders | None = None
    trust = 0.0
    shuffle: list[int] | None = None

    def __init__(self, components: list[Component], likelihood: Likelihood, k: int) -> None:
        self.components, self.likelihood = components, likelihood
        self.N, self.total, self.allowed = [0] * k, [0.0] * k, [True] * k

    def record(self, a: int, r: float) -> None:
        self.N[a] += 1
        self.total[a] += r

    def points(self, n: int) -> tuple[FloatArray, list[int]]:
        """Mean rewards (n, k), and the allowed arm on top of each point."""
        counts, sums = np.array(self.N, dtype=float), np.array(self.total)
        cells = [cells_of(self.likelihood, counts, sums, c) for c in self.components]
        given = self.components, cells, sum(self.N), n, self.allowed
        eta, tops = points_of_user(*given, self.orders, self.trust, self.shuffle)
        return self.likelihood.mean(eta), tops

    def moved_points(self, n: int) -> tuple[FloatArray, list[int]]:
        """Points moved to the arms' posterior means, where these are not those of the tastes."""
        points, tops = self.points(n)
        if self.likelihood.exact:
            return points, tops
        counts, sums = np.array(self.N, dtype=float), np.array(self.total)
        shares, _, means, covariances = mixture(self.components, self.likelihood, counts, sums)
        wanted = sum(
            share * expected(self.likelihood.mean, self.likelihood, mean, np.diag(cov))
            for share, mean, cov in zip(shares, means, covariances, strict=True)
        )
        points = points + (wanted - points.mean(axis=0))
        return points, np.where(self.allowed, points, -np.inf).argmax(axis=1).tolist()

    def mixture(self, n: int, power: float) -> list[float]:
        """The mixture of two allowed arms of the least information ratio over n points."""
        points, tops = self.moved_points(n)
        _, regret, between = moments(points, tops)
        information = between / self.likelihood.noise(points.mean(axis=0))
        return two_arms(regret, information, power, np.array(self.allowed))

    def choose(self, u: float) -> int:
        return sample(self.chances(), u)[0]

    def chances(self) -> list[float]:
        raise NotImplementedError


class PopularTwin(BeliefTwin):
    """The best arm of the population."""

    def __init__(self, prior: Prior) -> None:
        super().__init__(components_of(prior), prior.likelihood, prior.n_arms)

    def best(self) -> list[int]:
        g, means = self.likelihood.mean, np.zeros(len(self.N))
        for c in self.components:
            variance = np.diag(c.covariance)
            means += np.exp(c.log_share) * expected(g, self.likelihood, c.mean, variance)
        return best_among(list(means), self.allowed)

    def choose(self, u: float) -> int:
        return tie(self.best(), u)[0]

    def chances(self) -> list[float]:
        return alike(self.best(), len(self.N))


class MixTSTwin(BeliefTwin):
    """The share of 64 points with each arm on top."""

    def __init__(self, prior: Prior) -> None:
        super().__init__(components_of(prior), prior.likelihood, prior.n_arms)

    def chances(self) -> list[float]:
        _, tops = self.points(64)
        return [tops.count(a) / len(tops) for a in range(len(self.N))]


class LobBayesTwin(BeliefTwin):
    """The mixture of two arms over 32 points; regret weighs most before much is known."""

    def __init__(self, prior: Prior, trust: float = 0.0) -> None:
        super().__init__(components_of(prior), prior.likelihood, prior.n_arms)
        self.prior, self.orders, self.trust = prior, prior.orders, trust

    def power(self) -> float:
        doubt = min(1.0, 2 * (1 - self.trust))
        worth = self.prior.worth
        extra = max(4.0, 2 * float(np.sqrt(worth)))
        return 1.4 + doubt * (0.6 + extra / (1 + sum(self.N) / (4 * worth)))

    def chances(self) -> list[float]:
        return self.mixture(32, self.power())


class LobIDSTwin(BeliefTwin):
    """The same on orders that are nearly sure to hold, of which no scale is known."""

    trust = 0.999

    def __init__(
        self, orders: LatentOrders, sigma: float, shares: Sequence[float] | None = None
    ) -> None:
        with np.errstate(divide="ignore"):
            log = None if shares is None else np.log(np.array(shares) / np.sum(shares))
        c, shuffle = components_of_orders(orders, sigma, log)
        super().__init__(components_of_user(c, 0), Gaussian(sigma), orders.n_arms)
        self.orders, self.shuffle = orders, shuffle.tolist()

    def chances(self) -> list[float]:
        return self.mixture(32, 1.4 + 0.002 * 4.6)
