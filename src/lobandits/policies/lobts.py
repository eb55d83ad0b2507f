"""lobTS (Algorithm 2): sample an arm by the likelihood of the best means that have it on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, whole
from lobandits.beliefs.orders import arm_losses
from lobandits.errors import LobInputError
from lobandits.policies.explanation import Details
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares
from lobandits.rules.choices import CUT, likeliness
from lobandits.statistics import State, array, empty_state


@dataclass(eq=False, repr=False)
class LobTSState(State):
    """Rewards, and the likelihoods of arms at the last projection for all arms.

    Attributes
    ----------
    weights : float64 (n_users, n_arms)
        The arms' likelihoods, relative to the best, at the last projection.
    projected : int64 (n_users,)
        Plays at the last projection, -1 before the first.
    """

    weights: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    projected: IntArray = field(metadata=array("memory", empty=-1))


@dataclass(frozen=True)
class LobTS(OrderPolicy[State]):
    r"""Sample an arm by the likelihood of the best means that have it on top (Algorithm 2).

    .. math:: p(a) \propto \exp(-L(a) / (2 \sigma^2)), \quad
        L(a) = \min_{s : a \in \mathrm{Max}(s)} \min_{\mu \in H_s \cap M_a}
        \sum_b N_b (\mu_b - \hat\mu_b)^2 - 2 \sigma^2 \log p(s)

    An arm on top of no state has probability 0, and so has one below 1e-12 of the best. Where only
    some arms are allowed, Max(s) is among these, and M_a puts a above these alone.

    Parameters
    ----------
    orders
        Orders of the states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the paper's c.
    project_every
        Plays between two projections (T_proj); in between the last probabilities are used. A
        choice among some arms is always projected anew, and so is every one with a half-life.
    shares
        The prior p(s) of the states, by default uniform.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobTS(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[2, 0], rewards=[3.0, 1.0], users=[0, 0])
    >>> policy.probabilities(state).round(4)
    array([[0.2689, 0.    , 0.7311]])
    """

    name = "lobts"
    label = "lobTS"
    style = ("#d55e00", "solid", "o")
    project_every: int = 1
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            project_every=whole("project_every", self.project_every, most=2**62),
            shares=checked_shares(self.shares, self.orders.n_states),
        )

    def new_state(self, n_users: int) -> State:
        """Return an empty state; it keeps likelihoods where not every round projects."""
        kind = State if self.project_every == 1 else LobTSState
        return empty_state(kind, n_users, arms=self.n_arms)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the likelihood of each arm on top, relative to the best."""
        if not isinstance(state, LobTSState):
            return self._likelihoods(state, allowed, np.ones(state.n_users, np.bool_))
        whole = np.broadcast_to(allowed.all(axis=1), state.n_users)
        due = whole & (state.projected < 0)
        due |= whole & (state.plays - state.projected >= self.project_every)
        if due.any():
            state.weights[due] = self._likelihoods(state, self.all_arms, due)[due]
            state.projected[due] = state.plays[due]
        if whole.all():
            return state.weights.copy()
        among = self._likelihoods(state, allowed, ~whole)
        return np.where(whole[:, None], state.weights, among)

    def _likelihoods(self, state: State, allowed: BoolArray, users: BoolArray) -> FloatArray:
        """Return the likelihoods of some users' arms; the rows of others mean nothing."""
        variance = self.sigma**2
        reach = np.where(users, -2.0 * variance * np.log(CUT), -1.0)
        losses = arm_losses(state, self.orders.tables, allowed, self._penalty, reach)
        return likeliness(np.where(users[:, None], losses, 0.0) / (-2.0 * variance))

    @property
    def counts_suffice(self) -> bool:
        """Whether every round projects."""
        return self.project_every == 1

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        if isinstance(state, LobTSState):
            largest = state.weights.max(axis=1)[state.projected >= 0]
            if (state.weights < 0).any() or (largest <= 0).any():
                raise LobInputError("weights must not be negative, and some must be positive")
            if ((state.weights > 0) & ~np.atleast_2d(self.orders.tops)).any():
                raise LobInputError("weights must be 0 for arms on top of no state")
            if ((state.projected < -1) | (state.projected > state.plays)).any():
                raise LobInputError("projected must lie between -1 and the plays recorded")
        return state

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the loss of each arm on top, and the log-likelihood of each state."""
        everything = np.full(state.n_users, np.inf)
        loss = arm_losses(state, self.orders.tables, allowed, self._penalty, everything)
        weight = self.odds(state, allowed)[0]
        return Details(arms={"loss": loss[0], "weight": weight}, states=self.fit_of_states(state))
