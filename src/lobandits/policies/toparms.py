"""TopArmsUCB: UCB on the arms that can be on top, the paper's appendix on restricting arms."""

from dataclasses import dataclass

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.beliefs.tops import tops_of
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.rules.greedy import greedy
from lobandits.rules.optimism import upper_bounds
from lobandits.statistics import State


@dataclass(frozen=True)
class TopArmsUCB(OrderPolicy[State]):
    r"""Play argmax of :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}` over the arms in A_0.

    These are :math:`A_0 = \cup_s \mathrm{Max}(s)`: an arm below another one in every state is never
    the best, so it is never played. Where only some arms are allowed, Max(s) is among these.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = TopArmsUCB(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> policy.probabilities(policy.start())
    array([[0.5, 0. , 0.5]])
    """

    name = "toparms"
    style = ("#cc79a7", "dashed", "P")

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the arms in A_0 of the largest index, 0 for the others."""
        upper = upper_bounds(state.counts, state.sums, 2 * self.sigma**2)
        return greedy(upper, self._tops_among(allowed))

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the upper confidence bounds, and which arms are on top of some state."""
        upper = upper_bounds(state.counts, state.sums, 2 * self.sigma**2)
        return Details(arms={"on top": self._tops_among(allowed)[0], "upper": upper[0]})

    def _tops_among(self, allowed: BoolArray) -> BoolArray:
        """Return the allowed arms that are on top of some state, (1 or n_users, n_arms)."""
        if allowed.all():
            return np.atleast_2d(self.orders.tops)
        return tops_of(self.orders.tables, self.all_states, allowed)
