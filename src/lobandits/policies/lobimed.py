"""LobIMED: play the arm whose evidence against it, plus the log of its plays, is least."""

from dataclasses import dataclass, field

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.beliefs.orders import arm_losses
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares
from lobandits.rules.least_loss import indices, least_index, reach
from lobandits.statistics import State


@dataclass(frozen=True)
class LobIMED(OrderPolicy[State]):
    r"""Play argmin over the arms on top of some state of :math:`D_a + \log N_a`.

    .. math:: D_a = (L(a) - \min_b L(b)) / (2 \sigma^2)

    The losses L are those of `LobTS`; the rule is indexed minimum empirical divergence (Honda and
    Takemura 2015). An arm never played counts log 0 as -1. Nothing is random but ties.

    Parameters
    ----------
    orders
        Orders of the states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the paper's c.
    shares
        The prior p(s) of the states, by default uniform.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobIMED(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[2, 0], rewards=[3.0, 1.0], users=[0, 0])
    >>> policy.probabilities(state)
    array([[0., 0., 1.]])
    """

    name = "lobimed"
    style = ("#999933", "dashed", "X")
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(shares=checked_shares(self.shares, self.orders.n_states))

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the arms of the least index, 0 for the others."""
        far = reach(state.counts, self.sigma**2)
        losses = arm_losses(state, self.orders.tables, allowed, self._penalty, far)
        return least_index(losses, state.counts, self.sigma**2)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the loss, D and index of each arm, and the log-likelihood of each state."""
        everything = np.full(state.n_users, np.inf)
        losses = arm_losses(state, self.orders.tables, allowed, self._penalty, everything)
        arms = {
            "loss": losses[0],
            "D": (losses[0] - losses[0].min()) / (2 * self.sigma**2),
            "index": indices(losses, state.counts, self.sigma**2)[0],
        }
        return Details(arms=arms, states=self.fit_of_states(state))
