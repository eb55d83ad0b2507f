"""Problems with the means that a user of the package gives."""

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import finite_array, positive, whole
from lobandits.orders import LatentOrders, UserOrders
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import Bounds, expected_rewards


class FixedProblems:
    """Means of your own, one row per user; users beyond the last row start again at the first.

    One row and many users therefore repeat one problem many times.

    Parameters
    ----------
    means
        Expected rewards, of shape (n_rows, n_arms), or (n_arms,) for one problem. For clipped
        rewards these are the means before clipping.
    orders
        The orders that policies see: shared, or one set per row.
    sigma
        Standard deviation of the rewards' noise, which policies are told.
    states
        The state of each row, where known.
    state_means
        What latent-bandit policies believe: (n_states, n_arms) or (n_rows, n_states, n_arms).
    rewards, bounds
        As for :class:`Problems`.

    Examples
    --------
    >>> orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    >>> env = FixedProblems([4.5, 4.0, 1.5], orders, sigma=1.0)
    >>> env.sample(2, seed=0).means
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
    ) -> None:
        location = np.atleast_2d(finite_array("means", means))
        sigma = positive("sigma", sigma)
        unknown = np.full(len(location), -1)
        believed = None if state_means is None else finite_array("state_means", state_means)
        self._rows = Problems(
            means=expected_rewards(rewards, location, sigma, bounds),
            sigma=sigma,
            states=unknown if states is None else np.asarray(states),
            orders=orders,
            state_means=believed,
            rewards=rewards,
            location=location if rewards == "clipped" else None,
            bounds=bounds,
        )

    @property
    def problems(self) -> Problems:
        """The problems as they were given, one per row."""
        return self._rows

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return users ``first`` to ``first + n - 1``; nothing about them is random."""
        n, first = whole("n", n), whole("first", first, least=0)
        return self._rows.take(np.arange(first, first + n) % self._rows.n_users)

    def __repr__(self) -> str:
        rows = self._rows
        return (
            f"FixedProblems(n_rows={rows.n_users}, n_arms={rows.n_arms}, "
            f"n_states={rows.n_states}, sigma={rows.sigma:g}, rewards={rows.rewards!r})"
        )
