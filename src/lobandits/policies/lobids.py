"""LobIDS: information-directed sampling on the projections, with a scale-free working prior."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel, lean
from lobandits.orders import OrderTables
from lobandits.policies.bounded import (
    Bounds,
    Items,
    Room,
    Tracker,
    losses_of_items,
    make_room,
    refresh,
)
from lobandits.policies.bounded_policy import BoundedPolicy, BoundedState
from lobandits.policies.conditional import put_in_order, raise_above
from lobandits.policies.directed import (
    Split,
    add_hypothesis,
    clear,
    conclude,
    make_split,
    mix_two_arms,
)
from lobandits.policies.explain import Details
from lobandits.policies.positions import place_arms
from lobandits.policies.state import State
from lobandits.policies.working import (
    N_SLOPES,
    Working,
    log_evidence,
    make_working,
    posterior_of_groups,
    recall_sums,
    set_variances,
    shrink,
    sum_groups,
)

DROP = 40.0  # of log-likelihood below the best, beyond which a hypothesis is dropped
FLOOR = 0.2  # the largest share of the floor, which is FLOOR_ROUNDS / t later on
FLOOR_ROUNDS = 3.0
CUT = 1e-2  # of the floor's share for one hypothesis: lighter slopes are left out
LIGHTEST = -30.0  # log-weight of a slope, relative to the hypothesis's best
TIE = 1e-9


class Desk(NamedTuple):
    """Working memory for one user; a hypothesis is an item, h of them."""

    room: Room
    working: Working
    split: Split
    weight: FloatArray  # (h, b): relative to each hypothesis's own best slope
    first: FloatArray  # (h, b): S_1 of its first group
    peak: FloatArray  # (h,): the log-weight of its best slope, -inf if dropped
    share: FloatArray  # (h,): the weight of its best slope
    mean: FloatArray  # (k,)
    variance: FloatArray  # (k,)
    ordered: FloatArray  # (k,)
    inverse: FloatArray  # (k,)


def make_desk(k: int, n_items: int) -> Desk:
    """Allocate the working memory for ``k`` arms and ``n_items`` hypotheses."""
    return Desk(
        room=make_room(k, n_items),
        working=make_working(k),
        split=make_split(k),
        weight=np.empty((n_items, N_SLOPES)),
        first=np.empty((n_items, N_SLOPES)),
        peak=np.empty(n_items),
        share=np.empty(n_items),
        mean=np.empty(k),
        variance=np.empty(k),
        ordered=np.empty(k),
        inverse=np.empty(k),
    )


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
    for u in range(len(counts)):
        plays = counts[u].sum()
        row = u if len(tracker.items.first) > 1 else 0
        if plays == 0:
            open_game(tables, row, desk.working, out[u])
            continue
        slot = refresh(counts, sums, u, tracker)
        items, bounds = tracker.items, tracker.bounds
        reach = 2.0 * sigma * sigma * DROP
        least = losses_of_items(counts, sums, u, slot, tables, items, reach, bounds, desk.room)
        low, unit = units(desk.room, sigma)
        noise = (sigma / unit) ** 2
        set_variances(desk.room.weight, noise, desk.working)
        n_items = items.first[row, counts.shape[1]]
        cut = weigh_hypotheses(
            tables, items, row, slot, n_items, bounds, least, sigma, low, unit, plays + 1, desk
        )
        clear(desk.split)
        for i in range(n_items):
            if desk.share[i] >= cut:
                add_slopes(tables, items, row, slot, i, bounds, low, unit, cut, desk)
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


@lean
def read_hypothesis(
    t: OrderTables,
    items: Items,
    row: int,
    slot: int,
    i: int,
    b: Bounds,
    low: float,
    unit: float,
    desk: Desk,
) -> int:
    """Write the fit and the positions of hypothesis i; return how many groups it has."""
    w, r = desk.working, desk.room
    for a in range(r.weight.shape[0]):
        w.fit[a] = (b.fit[slot, i, a] - low) / unit if r.weight[a] > 0.0 else 0.0
    return place_arms(t, row, items.state[row, i], w.z, w.group, w.below)


@lean
def weigh_hypotheses(
    t: OrderTables,
    items: Items,
    row: int,
    slot: int,
    n_items: int,
    b: Bounds,
    least: float,
    sigma: float,
    low: float,
    unit: float,
    now: int,
    desk: Desk,
) -> float:
    """Write p(h, beta) as ``share[h] * weight[h, beta]``; return what is too light to matter."""
    n_slopes = desk.weight.shape[1]
    k = desk.mean.shape[0]
    highest = -np.inf
    near = 0
    for i in range(n_items):
        desk.peak[i] = -np.inf
        gap = (b.bound[slot, i] - least) / (2.0 * sigma * sigma)
        if not desk.room.projected[i] or gap > DROP:
            continue
        near += gap <= np.log(now)
        n_groups = read_hypothesis(t, items, row, slot, i, b, low, unit, desk)
        sum_groups(desk.room.weight, n_groups, desk.working)
        tops = 0
        for a in range(k):
            tops += t.maximal[row, items.state[row, i], a]
        for j in range(n_slopes):
            desk.weight[i, j] = log_evidence(n_groups, j, desk.working)
            desk.first[i, j] = desk.working.s1[0, j]
            desk.peak[i] = max(desk.peak[i], desk.weight[i, j])
        for j in range(n_slopes):
            log = desk.weight[i, j] - desk.peak[i]
            desk.weight[i, j] = np.exp(log) if log > LIGHTEST else 0.0
        desk.peak[i] -= gap + np.log(float(tops))
        highest = max(highest, desk.peak[i])
    return share_weight(n_items, slot, b, least, sigma, now, near, highest, desk)


@lean
def share_weight(
    n_items: int,
    slot: int,
    b: Bounds,
    least: float,
    sigma: float,
    now: int,
    near: int,
    highest: float,
    desk: Desk,
) -> float:
    """Write the hypotheses' shares, mixed with the floor; return the cut."""
    total = 0.0
    for i in range(n_items):
        desk.share[i] = np.exp(desk.peak[i] - highest)
        for j in range(desk.weight.shape[1] if desk.share[i] > 0.0 else 0):
            total += desk.share[i] * desk.weight[i, j]
    floor = min(FLOOR, FLOOR_ROUNDS / now)
    for i in range(n_items):
        desk.share[i] *= (1.0 - floor) / total
        gap = (b.bound[slot, i] - least) / (2.0 * sigma * sigma)
        if desk.peak[i] > -np.inf and gap <= np.log(now):
            own = 0.0
            for j in range(desk.weight.shape[1]):
                own += desk.weight[i, j]
            desk.share[i] += floor / near / own
    return CUT * floor / near


@lean
def add_slopes(
    t: OrderTables,
    items: Items,
    row: int,
    slot: int,
    i: int,
    b: Bounds,
    low: float,
    unit: float,
    cut: float,
    desk: Desk,
) -> None:
    """Add the means of hypothesis i under every slope that matters."""
    n_groups = read_hypothesis(t, items, row, slot, i, b, low, unit, desk)
    if n_groups == 1:
        recall_sums(desk.first[i], desk.working)
    else:
        sum_groups(desk.room.weight, n_groups, desk.working)
    state, top = items.state[row, i], items.arm[row, i]
    for j in range(desk.weight.shape[1]):
        p = desk.share[i] * desk.weight[i, j]
        if p >= cut:
            posterior_of_groups(n_groups, j, desk.working)
            shrink(j, desk.working, desk.mean, desk.variance)
            put_in_order(
                desk.mean,
                desk.variance,
                t,
                row,
                state,
                top,
                desk.inverse,
                desk.ordered,
                desk.room.scratch,
                desk.room.flow,
            )
            raise_above(desk.ordered, top, desk.variance[top])
            add_hypothesis(p, top, desk.ordered, desk.variance, desk.split)
