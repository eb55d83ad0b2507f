"""Plain Python twins of lobUCB, lobTS (Algorithms 1 and 2, line by line) and lobIMED."""

import math
from collections.abc import Sequence

import numpy as np
from tests.policies.reference import UCBTwin, alike, best_among, posterior, sample, tie
from tests.projection.reference import solved

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.orders import LatentOrders, PartialOrder


def tops_among(order: PartialOrder, allowed: Sequence[bool]) -> list[int]:
    """Max(s): the allowed arms with no allowed arm above."""
    arms = [a for a, may in enumerate(allowed) if may]
    return [a for a in arms if not any(order.precedes[b, a] for b in arms)]


def tops_of_any(orders: Sequence[PartialOrder], allowed: Sequence[bool]) -> list[int]:
    """The arms in Max(s) of some state."""
    return sorted({a for order in orders for a in tops_among(order, allowed)})


def above_allowed(order: PartialOrder, top: int, allowed: Sequence[bool]) -> BoolArray:
    """The order with one arm put above all allowed ones, and all that follows from it."""
    above = order.precedes.copy()
    for b, may in enumerate(allowed):
        above[top, b] |= may and b != top
    for c in range(len(above)):
        above |= np.outer(above[:, c], above[c])
    return above


class History:
    """Plays and means of one user; the prior of the states, by default uniform."""

    def __init__(
        self, orders: LatentOrders, sigma: float, shares: Sequence[float] | None = None
    ) -> None:
        self.orders, self.sigma, self.t = orders, sigma, 1
        self.shares = [1.0] * orders.n_states if shares is None else list(shares)
        self.allowed = [True] * orders.n_arms
        self.N = [0] * orders.n_arms
        self.total = [0.0] * orders.n_arms

    def mean(self, a: int) -> float:
        return self.total[a] / self.N[a]

    def record(self, a: int, r: float) -> None:
        self.N[a] += 1
        self.total[a] += r
        self.t += 1

    def averages(self) -> FloatArray:
        return np.array([self.mean(a) if n else 0.0 for a, n in enumerate(self.N)])

    def fits(self) -> list[tuple[int, int, FloatArray, float]]:
        """State, arm on top, fit and loss - 2 sigma^2 log(p(s) / largest p), where p(s) > 0."""
        plays, averages = np.array(self.N, dtype=float), self.averages()
        found = []
        for s, order in enumerate(self.orders):
            for top in tops_among(order, self.allowed) if self.shares[s] > 0 else ():
                fit = solved(averages, plays, above_allowed(order, top, self.allowed))
                loss = sum(n * (fit[a] - averages[a]) ** 2 for a, n in enumerate(self.N) if n)
                penalty = 2 * self.sigma**2 * math.log(max(self.shares) / self.shares[s])
                found.append((s, top, fit, float(loss) + penalty))
        return found

    def losses(self) -> list[float]:
        """L(a) of every arm, inf where it can be on top of no state."""
        losses = [math.inf] * len(self.N)
        for _, top, _, loss in self.fits():
            losses[top] = min(loss, losses[top])
        return losses


class LobUCBTwin(History):
    """Algorithm 1: bounds, feasible states, active arms, the largest upper bound."""

    def __init__(
        self, orders: LatentOrders, sigma: float, every: int = 1, radius: float = 4.0
    ) -> None:
        super().__init__(orders, sigma)
        self.every, self.radius = every, radius
        self.feasible: list[PartialOrder] = []
        self.refreshed: int | None = None
        self.infeasible = 0

    def bounds(self) -> tuple[list[float], list[float]]:
        low, up = [-math.inf] * len(self.N), [math.inf] * len(self.N)
        for a, n in enumerate(self.N):
            if n > 0:
                reach = self.sigma * math.sqrt(self.radius * math.log(self.t) / n)
                low[a], up[a] = self.mean(a) - reach, self.mean(a) + reach
        return low, up

    def best(self) -> list[int]:
        low, up = self.bounds()
        if self.refreshed is None or self.t - self.refreshed >= self.every:
            self.feasible = [
                order
                for order in self.orders
                if not any(low[b] > up[a] for a, b in np.argwhere(order.precedes))
            ]
            self.infeasible += not self.feasible
            self.refreshed = self.t
        active = tops_of_any(self.feasible or list(self.orders), self.allowed)
        return best_among(up, [a in active for a in range(len(up))])

    def choose(self, u: float) -> int:
        return tie(self.best(), u)[0]

    def chances(self) -> list[float]:
        return alike(self.best(), len(self.N))


class TopArmsTwin(UCBTwin):
    """UCB on the arms that are on top of some state."""

    def __init__(self, orders: LatentOrders, sigma: float) -> None:
        super().__init__(orders.n_arms, sigma)
        self.orders = orders

    def best(self) -> list[int]:
        self.arms = tops_of_any(list(self.orders), self.allowed)
        return super().best()


class LobTSTwin(History):
    """Algorithm 2: the best fit with each arm on top, in any state that allows it.

    Weights of all arms are kept for ``every`` plays; a choice among some is always projected anew.
    """

    def __init__(
        self,
        orders: LatentOrders,
        sigma: float,
        every: int = 1,
        shares: Sequence[float] | None = None,
    ) -> None:
        super().__init__(orders, sigma, shares)
        self.every = every
        self.kept: list[float] = []
        self.projected: int | None = None

    def weights(self) -> list[float]:
        if not all(self.allowed):
            return self.projections()
        if self.projected is None or self.t - self.projected >= self.every:
            self.kept, self.projected = self.projections(), self.t
        return self.kept

    def projections(self) -> list[float]:
        return posterior([-loss / (2 * self.sigma**2) for loss in self.losses()])

    def choose(self, u: float) -> int:
        return sample(self.weights(), u)[0]

    def chances(self) -> list[float]:
        weights = self.weights()
        return [weight / sum(weights) for weight in weights]


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
