"""Plain Python twins of lobUCB and lobTS, line by line from Algorithms 1 and 2."""

import math

import numpy as np
from tests.policies.reference import argmax_all, posterior, sample, tie, top_arms
from tests.projection.reference import solved, with_top

from lobandits.orders import LatentOrders


class History:
    """Plays and means of one user."""

    def __init__(self, orders: LatentOrders, sigma: float) -> None:
        self.orders, self.sigma, self.t = orders, sigma, 1
        self.N = [0] * orders.n_arms
        self.total = [0.0] * orders.n_arms

    def mean(self, a: int) -> float:
        return self.total[a] / self.N[a]

    def record(self, a: int, r: float) -> None:
        self.N[a] += 1
        self.total[a] += r
        self.t += 1


class LobUCBTwin(History):
    """Algorithm 1: bounds, feasible states, active arms, the largest upper bound."""

    def __init__(
        self, orders: LatentOrders, sigma: float, every: int = 1, radius: float = 4.0
    ) -> None:
        super().__init__(orders, sigma)
        self.every, self.radius = every, radius
        self.active: list[int] = []
        self.infeasible = 0

    def bounds(self) -> tuple[list[float], list[float]]:
        low, up = [-math.inf] * len(self.N), [math.inf] * len(self.N)
        for a, n in enumerate(self.N):
            if n > 0:
                reach = self.sigma * math.sqrt(self.radius * math.log(self.t) / n)
                low[a], up[a] = self.mean(a) - reach, self.mean(a) + reach
        return low, up

    def choose(self, u: float) -> int:
        low, up = self.bounds()
        if (self.t - 1) % self.every == 0:
            feasible = [
                order
                for order in self.orders
                if not any(low[b] > up[a] for a, b in np.argwhere(order.precedes))
            ]
            self.infeasible += not feasible
            tops = [set(np.flatnonzero(order.maximal)) for order in feasible]
            self.active = sorted(map(int, set().union(*tops))) if tops else top_arms(self.orders)
        return self.active[tie(argmax_all([up[a] for a in self.active]), u)[0]]


class LobTSTwin(History):
    """Algorithm 2: the best fit with each arm on top, in any state that allows it."""

    def __init__(self, orders: LatentOrders, sigma: float, every: int = 1) -> None:
        super().__init__(orders, sigma)
        self.every = every
        self.weights: list[float] = []

    def loss(self, a: int) -> float:
        weights = np.array(self.N, dtype=float)
        means = np.array([self.mean(b) if n else 0.0 for b, n in enumerate(self.N)])
        losses = [math.inf]
        for order in self.orders:
            if order.maximal[a]:
                fit = solved(means, weights, with_top(order.precedes, a))
                losses.append(sum(n * (fit[b] - means[b]) ** 2 for b, n in enumerate(self.N) if n))
        return min(losses)

    def choose(self, u: float) -> int:
        if (self.t - 1) % self.every == 0:
            losses = [self.loss(a) for a in range(len(self.N))]
            self.weights = posterior([-loss / (2 * self.sigma**2) for loss in losses])
        return sample(self.weights, u)[0]
