"""LobIMED: play the arm whose evidence against it, plus the log of its plays, is least."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel
from lobandits.policies.base import Details
from lobandits.policies.bounded import (
    BoundedPolicy,
    BoundedState,
    Room,
    Tracker,
    losses_on_top,
    make_room,
)
from lobandits.policies.state import State

TIE = 1e-9  # indices this close, relative to the losses behind them, are equal but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class LobIMED(BoundedPolicy):
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

    def details(self, state: State) -> Details:
        """Return the loss, D and index of each arm, and the log-likelihood of each state."""
        losses = self._losses(state)
        loss = losses.min(axis=0)
        divergence = (loss - loss.min()) / (2 * self.sigma**2)
        logs = np.log(state.counts[0], out=np.full(self.n_arms, -1.0), where=state.counts[0] > 0)
        return Details(
            arms={"loss": loss, "D": divergence, "index": divergence + logs},
            states=self._fit_of_states(losses),
        )

    def _weights(self, state: State) -> FloatArray:
        """Return 1 for the arms of the least index, 0 for the others."""
        assert isinstance(state, BoundedState)
        weights = np.empty(state.counts.shape)
        room = make_room(self.n_arms, self._n_items)
        tracker = self._tracker(state)
        least_indices(state.counts, state.sums, tracker, room, self.sigma**2, TIE, weights)
        return weights


@kernel
def least_indices(
    counts: IntArray,
    sums: FloatArray,
    tracker: Tracker,
    room: Room,
    variance: float,
    tie: float,
    out: FloatArray,
) -> None:
    """Write 1 where an arm has the least index, else 0.

    The arm of least loss has an index of at most log max N, and no index is below D - 1: arms
    whose D exceeds log max N + 1 need no projection.
    """
    for u in range(len(counts)):
        most = max(1, counts[u].max())
        reach = 2.0 * variance * (np.log(most) + 1.0 + tie)
        index = out[u]
        least = losses_on_top(counts, sums, u, tracker, reach, variance, room, index)
        best = np.inf
        for a in range(len(index)):
            if index[a] < np.inf:
                log = np.log(float(counts[u, a])) if counts[u, a] > 0 else -1.0
                index[a] = (index[a] - least) / (2.0 * variance) + log
                best = min(best, index[a])
        best += tie * (1.0 + least / (2.0 * variance))
        for a in range(len(index)):
            index[a] = 1.0 if index[a] <= best else 0.0
