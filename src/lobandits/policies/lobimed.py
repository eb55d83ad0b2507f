"""LobIMED: play the arm whose evidence against it, plus the log of its plays, is least."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import Plain, lean
from lobandits.policies.explanation import Details
from lobandits.policies.loss_bounds import LossBounds, LossState, name_losses
from lobandits.policies.losses import arm_losses, fit_of_states, losses_on_top
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares

TIE = 1e-9  # indices this close, relative to the losses behind them, are equal but for rounding


@dataclass(frozen=True)
class LobIMED(OrderPolicy[LossState]):
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
    state_type = LossState
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(shares=checked_shares(self.shares, self.orders.n_states))

    @cached_property
    def _bounds(self) -> LossBounds:
        """The bounds that save projections."""
        return LossBounds(self.orders, self._keys, -2 * self.sigma**2 * self._log_shares)

    def odds(self, state: LossState, allowed: BoolArray) -> FloatArray:
        """Return 1 for the arms of the least index, 0 for the others."""
        odds = np.empty(state.counts.shape)
        args = state.counts, state.sums, allowed, self._bounds.open(state)[1]
        mark_least_indices(*args, self.sigma**2, TIE, odds)
        return odds

    def new_state(self, n_users: int) -> LossState:
        """Return an empty state."""
        return self._bounds.new_state(LossState, n_users)

    def one_time_state(self, n_users: int) -> LossState:
        """Return an empty state without bounds."""
        return self._bounds.one_time_state(LossState, n_users)

    def details(self, state: LossState, allowed: BoolArray) -> Details:
        """Return the loss, D and index of each arm, and the log-likelihood of each state."""
        loss = arm_losses(state, allowed, self._bounds.open(state)[1], self.sigma**2)
        divergence = (loss - loss.min()) / (2 * self.sigma**2)
        logs = np.log(state.counts[0], out=np.full(self.n_arms, -1.0), where=state.counts[0] > 0)
        return Details(
            arms={"loss": loss, "D": divergence, "index": divergence + logs},
            states=fit_of_states(self.orders, state, self.sigma),
        )


@lean
def mark_least_indices(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    plain: Plain,
    variance: float,
    tie: float,
    odds: FloatArray,
) -> None:
    """Write 1 where an arm has its user's least index, else 0.

    The arm of least loss has an index of at most log max N, and no index is below D - 1: arms
    whose D exceeds log max N + 1 need no projection.
    """
    losses = name_losses(plain)
    for u in range(len(counts)):
        most = 1.0
        for a in range(counts.shape[1]):
            most = max(most, float(counts[u, a]))
        reach = 2.0 * variance * (np.log(most) + 1.0 + tie)
        index, some = odds[u], allowed[u if len(allowed) > 1 else 0]
        least = losses_on_top(counts, sums, u, some, losses, reach, variance, index)
        best = np.inf
        for a in range(len(index)):
            if index[a] < np.inf:
                log = np.log(float(counts[u, a])) if counts[u, a] > 0 else -1.0
                index[a] = (index[a] - least) / (2.0 * variance) + log
                best = min(best, index[a])
        best += tie * (1.0 + least / (2.0 * variance))
        for a in range(len(index)):
            index[a] = 1.0 if index[a] <= best else 0.0
