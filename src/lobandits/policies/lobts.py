"""lobTS (Algorithm 2): sample an arm by the likelihood of the best means that have it on top."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import FloatArray, IntArray, whole
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.base import Details
from lobandits.policies.bounded import (
    BoundedPolicy,
    BoundedState,
    Room,
    Tracker,
    losses_on_top,
    make_room,
)
from lobandits.policies.families import CUT
from lobandits.policies.state import State, array


@dataclass(eq=False, repr=False)
class LobTSState(BoundedState):
    """Rewards, bounds, and the weights since the last projection.

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


@dataclass(frozen=True, eq=False, repr=False)
class LobTS(BoundedPolicy):
    r"""Sample an arm by the likelihood of the best means that have it on top (Algorithm 2).

    .. math:: p(a) \propto \exp(-L(a) / (2 \sigma^2)), \quad
        L(a) = \min_{s : a \in \mathrm{Max}(s)} \min_{\mu \in H_s \cap M_a}
        \sum_b N_b (\mu_b - \hat\mu_b)^2

    An arm on top of no state has probability 0, and so has one below 1e-12 of the best. Orders
    whose loss provably cannot matter are not projected.

    Parameters
    ----------
    orders
        Orders of the states: shared by all users, or one set per user.
    sigma
        Standard deviation of rewards, the paper's c.
    project_every
        Plays between two projections (T_proj); in between the last probabilities are used.

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
    state_type = LobTSState
    project_every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        self._fix(project_every=whole("project_every", self.project_every, most=2**62))

    @property
    def counts_suffice(self) -> bool:
        """Whether every round projects."""
        return self.project_every == 1

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        assert isinstance(state, LobTSState)
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

    def details(self, state: State) -> Details:
        """Return the loss of each arm on top, and the log-likelihood of each state."""
        losses = self._losses(state)
        return Details(
            arms={"loss": losses.min(axis=0), "weight": self._weights(state)[0]},
            states=self._fit_of_states(losses),
        )

    def _weights(self, state: State) -> FloatArray:
        """Return the likelihood of each arm on top, relative to the best."""
        assert isinstance(state, LobTSState)
        project_users(
            state.counts,
            state.sums,
            state.weights,
            state.projected,
            self._tracker(state),
            make_room(self.n_arms, self._n_items),
            self.project_every,
            self.sigma**2,
            CUT,
        )
        return state.weights


@kernel
def project_users(
    counts: IntArray,
    sums: FloatArray,
    weights: FloatArray,
    projected: IntArray,
    tracker: Tracker,
    room: Room,
    project_every: int,
    variance: float,
    cut: float,
) -> None:
    """Bring up to date the weights of the users whose last projection is too long ago."""
    reach = -2.0 * variance * np.log(cut)
    for u in range(len(counts)):
        plays = counts[u].sum()
        current = tracker.known[u] == tracker.keys[u if len(tracker.keys) > 1 else 0]
        if current and projected[u] >= 0 and plays - projected[u] < project_every:
            continue
        projected[u] = plays
        out = weights[u]
        least = losses_on_top(counts, sums, u, tracker, reach, variance, room, out)
        for a in range(len(out)):
            gap = out[a] - least
            out[a] = np.exp(-gap / (2.0 * variance)) if gap <= reach else 0.0
