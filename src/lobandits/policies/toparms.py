"""TopArmsUCB: UCB on the arms that are on top of some state, the appendix's proposition."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only
from lobandits.policies.explain import Details
from lobandits.policies.families import OrderPolicy
from lobandits.policies.state import State
from lobandits.policies.ucb import best_arm_odds, best_arms, upper_bounds


@dataclass(frozen=True, eq=False, repr=False)
class TopArmsUCB(OrderPolicy):
    r"""Play argmax of :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}` over the arms in A_0.

    These are :math:`A_0 = \cup_s \mathrm{Max}(s)`: an arm that is below another one in every state
    is never the best, so it is never played. Nothing else of the orders is used.

    Parameters
    ----------
    orders
        The orders of all states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the confidence parameter c of the paper.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = TopArmsUCB(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> policy.probabilities(policy.start())
    array([[0.5, 0. , 0.5]])
    """

    name = "toparms"

    @cached_property
    def _allowed(self) -> BoolArray:
        return read_only(np.atleast_2d(self.orders.tops))

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return each user's arm of the largest index, among the arms on top of some state."""
        return best_arms(state.counts, state.sums, self._allowed, 2 * self.sigma**2, noise)

    def propensities(self, state: State) -> FloatArray:
        """Return equal chances for the arms that share the largest index."""
        return best_arm_odds(state.counts, state.sums, self._allowed, 2 * self.sigma**2)

    def details(self, state: State) -> Details:
        """Return the upper confidence bounds, and which arms are on top of some state."""
        upper = upper_bounds(state, self._allowed, 2 * self.sigma**2)
        return Details(arms={"on top": self._allowed[0], "upper": upper})
