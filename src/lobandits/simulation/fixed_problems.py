"""An environment of means that the caller gives."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import finite_array, positive, whole
from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation.past_users import PAST_REWARDS, PastUsers
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import Bounds, expected_rewards


class FixedProblems:
    """Means of your own, one row per user; users beyond the last row start again at the first.

    ``problems`` has the rows as they were given.

    Parameters
    ----------
    means
        Expected rewards, of clipped ones before clipping: (n_rows, n_arms), or (n_arms,) for one
        problem that all users share.
    orders, sigma, states, state_means, rewards, bounds
        As for :class:`Problems`, with rows for users.
    past_users, past_rewards, past_seed
        So many users, of the same rows in turn, each left so many rewards of random arms; the
        seed names these. Policies on a prior learn it from this log. By default there is none.

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    >>> FixedProblems([4.5, 4.0, 1.5], orders, sigma=1.0).sample(2, seed=0).means
    array([[4.5, 4. , 1.5],
           [4.5, 4. , 1.5]])
    """

    def __init__(
        self,
        means: ArrayLike,
        orders: LatentOrders | UserOrders,
        sigma: float,
        states: ArrayLike | None = None,
        state_means: ArrayLike | None = None,
        *,
        rewards: str = "gaussian",
        bounds: Bounds | None = None,
        past_users: int = 0,
        past_rewards: int = PAST_REWARDS,
        past_seed: int = 0,
    ) -> None:
        location = np.atleast_2d(finite_array("means", means))
        sigma = positive("sigma", sigma)
        self.problems = Problems(
            means=expected_rewards(rewards, location, sigma, bounds),
            sigma=sigma,
            states=np.full(len(location), -1) if states is None else np.asarray(states),
            orders=orders,
            state_means=None if state_means is None else finite_array("state_means", state_means),
            rewards=rewards,
            location=location if rewards == "clipped" else None,
            bounds=bounds,
        )
        if whole("past_users", past_users, least=0):
            past = PastUsers(self.sample(past_users, 0), past_rewards, past_seed)
            self.problems = replace(self.problems, past=past)

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return the users from ``first`` on; nothing about them is random."""
        n, first = whole("n", n), whole("first", first, least=0)
        return self.problems.take(np.arange(first, first + n) % self.problems.n_users)

    def __repr__(self) -> str:
        return repr(self.problems).replace("Problems(n_users", "FixedProblems(n_rows")
