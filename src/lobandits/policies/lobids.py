"""LobIDS: information-directed sampling on the projections, with a scale-free working prior."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel, lean
from lobandits.orders import OrderTables
from lobandits.policies.bounded import Room, Tracker, losses_of_items, refresh
from lobandits.policies.bounded_policy import BoundedPolicy, BoundedState
from lobandits.policies.directed import clear, conclude, mix_two_arms
from lobandits.policies.explain import Details
from lobandits.policies.hypotheses import (
    DROP,
    Case,
    Desk,
    add_hypotheses,
    make_desk,
    share_weight,
    weigh_hypotheses,
)
from lobandits.policies.positions import place_arms
from lobandits.policies.state import State
from lobandits.policies.working import Working, set_variances

TIE = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class LobIDS(BoundedPolicy):
    r"""Play the two-arm mixture that minimises (expected regret)^2 / (expected information).

    .. math:: \min_\pi \Big(\sum_a \pi_a \Delta_a\Big)^2 \Big/ \sum_a \pi_a I_a, \qquad
        I_a = \tfrac12 \log \Big(1 + \frac{\mathrm{between}_a}{\sigma^2 + \mathrm{within}_a}\Big)

    Delta_a is the expected regret of arm a; between and within split the variance of its mean by
    which arm is on top. Both are over hypotheses h, a state with one of its maximal arms on top,
    and slopes beta, with weights

    .. math:: p(h, \beta) \propto e^{-L_h / (2 \sigma^2)} \,
        \mathrm{ev}(h, \beta) / |\mathrm{Max}(s_h)|,

    where L_h is the projection loss of `LobTS` and ev the evidence of the projection under a
    working prior that knows no scale: means on a line of slope beta along the order, with
    deviations of 0.3 beta (:mod:`lobandits.policies.working`). Hypotheses more than 40 of
    log-likelihood below the best are dropped. With weight min(0.2, 3 / t), those at most log t
    below it count alike, so none is given up too early. The first pull is the arm of the best
    average position.

    Parameters
    ----------
    orders
        The orders of all states: shared by all users, or one set per user. Any order will do:
        positions and connected groups are defined for chains, forests and DAGs alike.
    sigma
        Standard deviation of rewards, the confidence parameter c of the paper.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobIDS(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.probabilities(state)
    array([[1., 0., 0.]])
    >>> policy.record(state, arms=[0, 2], rewards=[1.0, 3.0], users=[0, 0])
    >>> policy.choose(state, rng=0)
    array([2])
    """

    name = "lobids"

    def details(self, state: State) -> Details:
        """Return each arm's chance to be on top, regret and information; each state's weight."""
        assert isinstance(state, BoundedState)
        losses = self._losses(state)
        states = self._fit_of_states(losses)
        if not state.plays[0]:
            return Details(states=states, notes=["The first pull: the best average position."])
        desk = make_desk(self.n_arms, self._n_items)
        self._run(state, desk)
        items = self._items_of_orders
        used = items.first[0, -1]
        posterior = np.zeros(len(losses))
        np.add.at(posterior, items.state[0, :used], desk.share[:used] * desk.weight[:used].sum(1))
        played = state.means[0][state.counts[0] > 0]
        unit = played.max() - played.min() + self.sigma
        split = desk.split
        return Details(
            arms={
                "on top": split.mass,
                "regret": unit * split.regret,
                "information": split.information,
            },
            states={**states, "weight": posterior / posterior.sum()},
        )

    def _weights(self, state: State) -> FloatArray:
        """Return the chances of the arms under the mixture."""
        assert isinstance(state, BoundedState)
        return self._run(state, make_desk(self.n_arms, self._n_items))

    def _run(self, state: BoundedState, desk: Desk) -> FloatArray:
        chances = np.empty(state.counts.shape)
        mix_users(
            state.counts,
            state.sums,
            self.orders.tables,
            self._tracker(state),
            self.sigma,
            desk,
            chances,
        )
        return chances


@kernel
def mix_users(
    counts: IntArray,
    sums: FloatArray,
    tables: OrderTables,
    tracker: Tracker,
    sigma: float,
    desk: Desk,
    out: FloatArray,
) -> None:
    """Write the chances of every user's arms.

    O(h k b) at worst, for h hypotheses within reach, k arms and b slopes.
    """
    scale = 2.0 * sigma * sigma
    items, bounds = tracker.items, tracker.bounds
    for u in range(len(counts)):
        plays = counts[u].sum()
        row = u if len(items.first) > 1 else 0
        if plays == 0:
            open_game(tables, row, desk.working, out[u])
            continue
        slot = refresh(counts, sums, u, tracker)
        reach = scale * DROP
        least = losses_of_items(counts, sums, u, slot, tables, items, reach, bounds, desk.room)
        low, unit = units(desk.room, sigma)
        noise = (sigma / unit) ** 2
        set_variances(desk.room.weight, noise, desk.working)
        case = Case(row, slot, items.first[row, -1], least, scale, low, unit, plays + 1.0)
        weigh_hypotheses(tables, items, bounds, case, desk)
        cut = share_weight(case, desk)
        clear(desk.split)
        add_hypotheses(cut, tables, items, bounds, case, desk)
        conclude(noise, desk.split)
        mix_two_arms(desk.split.regret, desk.split.information, out[u])


@lean
def open_game(t: OrderTables, row: int, w: Working, out: FloatArray) -> None:
    """Write the first pull: the arms with the best position on average over the states."""
    k = out.shape[0]
    for a in range(k):
        out[a] = 0.0
    for state in range(t.kind.shape[1]):
        place_arms(t, row, state, w.z, w.group, w.below)
        for a in range(k):
            out[a] += w.z[a]
    best = -np.inf
    for a in range(k):
        best = max(best, out[a])
    for a in range(k):
        out[a] = 1.0 if out[a] >= best - TIE * t.kind.shape[1] else 0.0


@lean
def units(r: Room, sigma: float) -> tuple[float, float]:
    """Return the lowest average, and the range of the averages plus sigma."""
    low, high = np.inf, -np.inf
    for a in range(r.mean.shape[0]):
        if r.weight[a] > 0.0:
            low = min(low, r.mean[a])
            high = max(high, r.mean[a])
    return low, high - low + sigma
