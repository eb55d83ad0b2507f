"""lobTS (Algorithm 2): sample an arm by the likelihood of the best means that have it on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import BoolArray, FloatArray, IntArray, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.allowed import all_allowed
from lobandits.policies.choices import CUT, draw_arms
from lobandits.policies.draw_on_top import draw_on_top
from lobandits.policies.explanation import Details
from lobandits.policies.loss_bounds import (
    Items,
    Losses,
    LossState,
    make_items,
    new_state,
    open_losses,
)
from lobandits.policies.losses import arm_losses, fit_of_states, losses_on_top
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares
from lobandits.policies.state import array


@dataclass(eq=False, repr=False)
class LobTSState(LossState):
    """Rewards, bounds, and the likelihoods since the last projection for all arms.

    Attributes
    ----------
    weights : float64 (n_users, n_arms)
        The arms' likelihoods, relative to the best, at the last projection.
    projected : int64 (n_users,)
        Plays at the last projection, -1 before the first.
    """

    known: IntArray = field(metadata=array("memory"))
    weights: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    projected: IntArray = field(metadata=array("memory", empty=-1))


@dataclass(frozen=True)
class LobTS(OrderPolicy[LobTSState]):
    r"""Sample an arm by the likelihood of the best means that have it on top (Algorithm 2).

    .. math:: p(a) \propto \exp(-L(a) / (2 \sigma^2)), \quad
        L(a) = \min_{s : a \in \mathrm{Max}(s)} \min_{\mu \in H_s \cap M_a}
        \sum_b N_b (\mu_b - \hat\mu_b)^2 - 2 \sigma^2 \log p(s)

    An arm on top of no state has probability 0, and so has one below 1e-12 of the best. Orders
    whose loss provably cannot matter are not projected. Where only some arms are allowed, Max(s)
    is among these, and M_a puts a above these alone.

    Parameters
    ----------
    orders
        Orders of the states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the paper's c.
    project_every
        Plays between two projections (T_proj); in between the last probabilities are used. A
        choice among some arms is always projected anew.
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
    state_type = LobTSState
    project_every: int = 1
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(
            project_every=whole("project_every", self.project_every, most=2**62),
            shares=checked_shares(self.shares, self.orders.n_states),
        )

    @cached_property
    def _loss_items(self) -> Items:
        return make_items(self.orders, -2 * self.sigma**2 * self._log_shares)

    def _losses(self, state: LobTSState) -> Losses:
        state.projected[state.known != self._keys] = -1  # its weights are those of other orders
        return open_losses(self.orders, self._loss_items, self._keys, state)

    def odds(self, state: LobTSState, allowed: BoolArray) -> FloatArray:
        """Return the likelihood of each arm on top, relative to the best."""
        return likelihoods(
            state.counts,
            state.sums,
            allowed,
            self._losses(state),
            self.sigma**2,
            CUT,
            self.project_every,
            state.projected,
            state.weights,
        )

    def decide(self, state: LobTSState, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return an arm for each user, drawn by the odds, mostly without knowing them all."""
        if self.project_every > 1 or not allowed.all():
            return super().decide(state, noise, allowed)
        chosen = sample(state.counts, state.sums, self._losses(state), self.sigma**2, noise)
        if (chosen < 0).any():
            exact = draw_arms(self.odds(state, allowed), noise)
            return np.where(chosen < 0, exact, chosen)
        return chosen

    def new_state(self, n_users: int) -> LobTSState:
        """Return an empty state."""
        return new_state(LobTSState, n_users, self.n_arms, self._loss_items)

    def one_time_state(self, n_users: int) -> LobTSState:
        """Return an empty state without bounds."""
        return new_state(LobTSState, n_users, self.n_arms, self._loss_items, bounds=False)

    @property
    def counts_suffice(self) -> bool:
        """Whether every round projects."""
        return self.project_every == 1

    def restore(self, data: Mapping[str, ArrayLike]) -> LobTSState:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        state.projected[state.known != self._keys] = -1
        state.weights[state.projected < 0] = 0.0
        largest = state.weights.max(axis=1)[state.projected >= 0]
        if (state.weights < 0).any() or (largest <= 0).any():
            raise LobInputError("weights must not be negative, and some must be positive")
        if ((state.weights > 0) & ~np.atleast_2d(self.orders.tops)).any():
            raise LobInputError("weights must be 0 for arms on top of no state")
        if ((state.projected < -1) | (state.projected > state.plays)).any():
            raise LobInputError("projected must lie between -1 and the plays recorded")
        return state

    def details(self, state: LobTSState, allowed: BoolArray) -> Details:
        """Return the loss of each arm on top, and the log-likelihood of each state."""
        args = state.counts, state.sums, allowed
        loss = arm_losses(*args, self._losses(state), self.sigma**2)[0]
        return Details(
            arms={"loss": loss, "weight": self.odds(state, allowed)[0]},
            states=fit_of_states(self.orders, state, self.sigma),
        )


@kernel
def sample(
    counts: IntArray, sums: FloatArray, losses: Losses, variance: float, noise: FloatArray
) -> IntArray:
    """Return an arm for each user, drawn by the `likelihoods`; -1 where rounding might decide."""
    chosen = np.empty(len(counts), np.int64)
    for u in range(len(counts)):
        chosen[u] = draw_on_top(counts, sums, u, losses, variance, noise[u])
    return chosen


@kernel
def likelihoods(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    losses: Losses,
    variance: float,
    cut: float,
    project_every: int,
    projected: IntArray,
    weights: FloatArray,
) -> FloatArray:
    """Return exp(-(L(a) - min L) / (2 sigma^2)) of every user's arms, 0 if below ``cut``.

    Of users who may play all arms, ``weights`` keeps them for ``project_every`` plays.
    """
    reach = -2.0 * variance * np.log(cut)
    odds = np.empty(counts.shape)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        everything = all_allowed(some)
        if everything:
            plays = counts[u].sum()
            if projected[u] >= 0 and plays - projected[u] < project_every:
                odds[u] = weights[u]
                continue
            projected[u] = plays
        out = odds[u]
        least = losses_on_top(counts, sums, u, some, losses, reach, variance, out)
        for a in range(len(out)):
            gap = out[a] - least
            out[a] = np.exp(-gap / (2.0 * variance)) if gap <= reach else 0.0
        if everything:
            weights[u] = out
    return odds
