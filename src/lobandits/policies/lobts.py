"""lobTS (Algorithm 2): sample an arm by the likelihood of the best means that have it on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, whole
from lobandits.basics.kernel import Plain, lean, part
from lobandits.errors import LobInputError
from lobandits.policies.choices import CUT, all_allowed, draw_weighted
from lobandits.policies.explanation import Details
from lobandits.policies.loss_bounds import LossBounds, Losses, LossState, name_losses
from lobandits.policies.losses import arm_losses, draw_on_top, fit_of_states, losses_on_top
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

    known: IntArray = field(metadata=array("memory", ages="renew"))
    weights: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    projected: IntArray = field(metadata=array("memory", empty=-1, ages="reset"))


class LastWeights(NamedTuple):
    """What `LobTSState` keeps of the last projection, as the kernels read and write it."""

    projected: IntArray
    weights: FloatArray
    project_every: int


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
    def _bounds(self) -> LossBounds:
        """The bounds that save projections; from above too where no weights are kept."""
        penalty = -2 * self.sigma**2 * self._log_shares
        return LossBounds(self.orders, self._keys, penalty, uppers=self.project_every == 1)

    def odds(self, state: LobTSState, allowed: BoolArray) -> FloatArray:
        """Return the likelihood of each arm on top, relative to the best."""
        odds, last = np.empty(state.counts.shape), (state.projected, state.weights)
        args = state.counts, state.sums, allowed, last, self._bounds.open(state)[1]
        likelihoods(*args, self.project_every, self.sigma**2, CUT, odds)
        return odds

    def decide(self, state: LobTSState, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return an arm for each user, drawn by the odds, mostly without knowing them all."""
        chosen, last = np.empty(len(noise), np.int64), (state.projected, state.weights)
        args = state.counts, state.sums, allowed, last, self._bounds.open(state)[1]
        sample(*args, self.project_every, self.sigma**2, CUT, noise, chosen)
        return chosen

    def new_state(self, n_users: int) -> LobTSState:
        """Return an empty state."""
        return self._bounds.new_state(LobTSState, n_users)

    def one_time_state(self, n_users: int) -> LobTSState:
        """Return an empty state without bounds."""
        return self._bounds.one_time_state(LobTSState, n_users)

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
        loss = arm_losses(state, allowed, self._bounds.open(state)[1], self.sigma**2)
        return Details(
            arms={"loss": loss, "weight": self.odds(state, allowed)[0]},
            states=fit_of_states(self.orders, state, self.sigma),
        )


@lean
def sample(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    last: Plain,
    losses: Plain,
    project_every: int,
    variance: float,
    cut: float,
    noise: FloatArray,
    chosen: IntArray,
) -> None:
    """Write an arm for each user, drawn by the `likelihoods`.

    Where no weights are kept, bounds of these mostly decide.
    """
    told, kept = name_losses(losses), LastWeights(last[0], last[1], project_every)
    odds = told.memory.most  # free where bounds, which are kept there, do not decide
    for u in range(len(counts)):
        some, arm = allowed[u if len(allowed) > 1 else 0], -1
        forget_others(u, kept, told)
        if project_every == 1:
            arm = draw_on_top(counts, sums, u, some, told, variance, noise[u])
        if arm < 0:
            likelihood(counts, sums, u, some, kept, told, variance, cut, odds)
            arm, _ = draw_weighted(odds, odds.sum(), noise[u])
        chosen[u] = arm


@lean
def likelihoods(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    last: Plain,
    losses: Plain,
    project_every: int,
    variance: float,
    cut: float,
    odds: FloatArray,
) -> None:
    """Write exp(-(L(a) - min L) / (2 sigma^2)) of every user's arms, 0 if below ``cut``."""
    told, kept = name_losses(losses), LastWeights(last[0], last[1], project_every)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        forget_others(u, kept, told)
        likelihood(counts, sums, u, some, kept, told, variance, cut, odds[u])


@part
def likelihood(
    counts: IntArray,
    sums: FloatArray,
    u: int,
    allowed: BoolArray,
    last: LastWeights,
    losses: Losses,
    variance: float,
    cut: float,
    out: FloatArray,
) -> None:
    """Write the `likelihoods` of one user. They are kept, if all arms are allowed."""
    everything = all_allowed(allowed)
    plays = 0
    for a in range(out.shape[0]):
        plays += counts[u, a]
    age = plays - last.projected[u]
    if everything and last.projected[u] >= 0 and age < last.project_every:
        for a in range(out.shape[0]):
            out[a] = last.weights[u, a]
        return
    reach = -2.0 * variance * np.log(cut)
    least = losses_on_top(counts, sums, u, allowed, losses, reach, variance, out)
    for a in range(out.shape[0]):
        gap = out[a] - least
        out[a] = np.exp(-gap / (2.0 * variance)) if gap <= reach else 0.0
    if everything:
        last.projected[u] = plays
        for a in range(out.shape[0]):
            last.weights[u, a] = out[a]


@part
def forget_others(u: int, last: LastWeights, losses: Losses) -> None:
    """Forget weights that come from other orders than those of ``losses``."""
    if losses.known[u] != losses.keys[u if losses.keys.shape[0] > 1 else 0]:
        last.projected[u] = -1
