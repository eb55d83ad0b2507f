"""TopArmsUCB: UCB on the arms that are on top of some state, the appendix's proposition."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, read_only
from lobandits.policies.explain import Details
from lobandits.policies.families import OrderPolicy
from lobandits.policies.state import State
from lobandits.policies.ucb import IndexPolicy


@dataclass(frozen=True, eq=False, repr=False)
class TopArmsUCB(IndexPolicy, OrderPolicy):
    r"""Play argmax of :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}` over the arms in A_0.

    These are :math:`A_0 = \cup_s \mathrm{Max}(s)`: an arm below another one in every state is never
    the best, so it is never played.

    Parameters
    ----------
    orders
        Orders of the states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the paper's c.

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

    def details(self, state: State) -> Details:
        """Return the upper confidence bounds, and which arms are on top of some state."""
        return Details(arms={"on top": self._allowed[0], **super().details(state).arms})
