"""LobIDS: information-directed sampling where orders are all that is known."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.from_orders import EXPERT, components_of_orders
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.points import Mixture, make_mixture, points_of_users
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares
from lobandits.rules.information_ratio import Moments, best_mixtures, exponents, moments_of
from lobandits.statistics import State

N_POINTS = 32
BLOCK = 2**21  # numbers of points that are worked on at a time


@dataclass(frozen=True)
class LobIDS(OrderPolicy[State]):
    r"""`LobBayes` on `Prior.from_orders`: the orders hold, and their scale is unknown.

    .. math:: \min_\pi \Big(\sum_a \pi_a \Delta_a\Big)^{1.4} \Big/ \sum_a \pi_a I_a

    over points of the posterior, see `beliefs.from_orders` and `rules.information_ratio`. Unlike
    LobBayes it also takes orders that each user has of their own.

    Parameters
    ----------
    orders, sigma, shares
        As in `LobTS`.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobIDS(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[0, 2], rewards=[1.0, 3.0], users=[0, 0])
    >>> policy.choose(state, rng=0)
    array([2])
    """

    name = "lobids"
    style = ("#aa4499", "solid", "p")
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(shares=checked_shares(self.shares, self.orders.n_states))

    @cached_property
    def _mixture(self) -> Mixture:
        with np.errstate(divide="ignore"):
            components, shuffle = components_of_orders(self.orders, self.sigma, self._log_shares)
        return make_mixture(components, self.orders, EXPERT, shuffle)

    def _moments(
        self, state: State, users: slice, allowed: BoolArray
    ) -> tuple[Moments, FloatArray]:
        counts, likelihood = state.counts[users].astype(np.float64), Gaussian(self.sigma)
        mixture = self._mixture if self.n_users is None else taken(self._mixture, users)
        cells = settled_cells(counts, state.sums[users], likelihood, mixture.components)
        points, top, shares = points_of_users(counts, cells, allowed, mixture, N_POINTS)
        return moments_of(points, top, likelihood.noise(points[:, :, 0])), shares

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chances of the arms in the best mixture of two."""
        odds = np.empty(state.counts.shape)
        size = max(1, BLOCK // (self.n_arms * N_POINTS))
        for first in range(0, len(odds), size):
            some = slice(first, first + size)
            sets = allowed[some] if len(allowed) > 1 else allowed
            moments, _ = self._moments(state, some, sets)
            power = exponents(np.zeros(len(moments.mean)), 2.0 * (1.0 - EXPERT), 1.0)
            odds[some] = best_mixtures(moments, sets, power)
        return odds

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return each arm's chance to be on top, regret and information; each state's chance."""
        moments, shares = self._moments(state, slice(0, 1), allowed)
        return Details(
            arms={
                "on top": moments.on_top[0],
                "regret": moments.regret[0],
                "information": moments.information[0],
            },
            states={"chance": shares[0].reshape(-1, self.orders.n_states).sum(axis=0)},
        )


def taken(x: Mixture, users: slice) -> Mixture:
    """Return the mixture of some users, where each has orders of their own."""
    c, o = x.components, x.orders
    return Mixture(
        c._replace(log_share=c.log_share[users], mean=c.mean[users], direction=c.direction[users]),
        x.level[users],
        x.shuffle,
        o._replace(
            tables=type(o.tables)._make(table[users] for table in o.tables),
            upper=o.upper[users],
            lower=o.lower[users],
            log_order=o.log_order[users],
        ),
    )
