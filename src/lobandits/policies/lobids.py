"""LobIDS: information-directed sampling on the projections, with a scale-free working prior."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel, lean
from lobandits.policies.base import Details
from lobandits.policies.bounded import (
    BoundedPolicy,
    BoundedState,
    Room,
    Tracker,
    lowest,
    project_item,
    read_user,
)
from lobandits.policies.hypotheses import (
    DROP,
    Case,
    Desk,
    make_desk,
    split_by_top,
)
from lobandits.policies.state import State
from lobandits.policies.working import open_game

ALIKE = 1e-9  # arms whose regret and information differ by less, relative to the largest, share


@dataclass(frozen=True, eq=False, repr=False)
class LobIDS(BoundedPolicy):
    r"""Play the two-arm mixture that minimises (expected regret)^2 / (expected information).

    .. math:: \min_\pi \Big(\sum_a \pi_a \Delta_a\Big)^2 \Big/ \sum_a \pi_a I_a, \qquad
        I_a = \tfrac12 \log \Big(1 + \frac{\mathrm{between}_a}{\sigma^2 + \mathrm{within}_a}\Big)

    Delta_a is the expected regret of arm a; between and within split the variance of its mean by
    which arm is on top. Both are over hypotheses h, a state with one of its maximal arms on top,
    and slopes beta, with the weights

    .. math:: p(h, \beta) \propto e^{-L_h / (2 \sigma^2)} \,
        \mathrm{ev}(h, \beta) / |\mathrm{Max}(s_h)|,

    where L_h is the projection loss of `LobTS` and ev the evidence of the projection under a
    working prior that knows no scale: means on a line of slope beta along the order, with
    deviations of 0.3 beta. With weight min(0.2, 3 / t), all h at most log t of log-likelihood
    below the best count alike. The first pull is the arm of the best average position.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = LobIDS(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[0, 2], rewards=[1.0, 3.0], users=[0, 0])
    >>> policy.choose(state, rng=0)
    array([2])
    """

    name = "lobids"

    def details(self, state: State) -> Details:
        """Return each arm's chance to be on top, regret and information; each state's weight."""
        losses = self._losses(state)
        states = self._fit_of_states(losses)
        if not state.plays[0]:
            return Details(states=states, notes=["The first pull: the best average position."])
        desk = make_desk(self.n_arms, self._n_items)
        self._weights(state, desk)
        items = self._items_of_orders
        used = items.first[0, -1]
        posterior = np.zeros(len(losses))
        np.add.at(posterior, items.state[0, :used], desk.share[:used] * desk.weight[:used].sum(1))
        played = state.means[0][state.counts[0] > 0]
        regret = (played.max() - played.min() + self.sigma) * desk.split.regret
        information = desk.split.information
        return Details(
            arms={"on top": desk.split.mass, "regret": regret, "information": information},
            states={**states, "weight": posterior / posterior.sum()},
        )

    def _weights(self, state: State, desk: Desk | None = None) -> FloatArray:
        """Return the chances of the arms; ``desk`` then holds what led to the last user's."""
        assert isinstance(state, BoundedState)
        chances = np.empty(state.counts.shape)
        desk = desk or make_desk(self.n_arms, self._n_items)
        mix_users(state.counts, state.sums, self._tracker(state), self.sigma, desk, chances)
        return chances


@kernel
def mix_users(
    counts: IntArray,
    sums: FloatArray,
    tracker: Tracker,
    sigma: float,
    desk: Desk,
    out: FloatArray,
) -> None:
    """Write every user's chances."""
    scale = 2.0 * sigma * sigma
    first = tracker.items.first
    for u in range(len(counts)):
        plays = counts[u].sum()
        row = u if len(first) > 1 else 0
        if plays == 0:
            open_game(tracker.tables, row, desk.working, out[u])
            continue
        slot, least = project_near(counts, sums, u, tracker, desk.room, scale * DROP)
        low, unit = units(desk.room, sigma)
        n_items, noise, now = first[row, -1], (sigma / unit) ** 2, plays + 1.0
        case = Case(tracker, row, slot, n_items, least, scale, low, unit, noise, now)
        split_by_top(case, desk)
        mix_two_arms(desk.split.regret, desk.split.information, out[u])


@lean
def project_near(
    counts: IntArray, sums: FloatArray, u: int, tracker: Tracker, r: Room, reach: float
) -> tuple[int, float]:
    """Project all items within ``reach`` of the least loss; return the bounds' row, and the least.

    Bounds are then exact where ``r.projected``.
    """
    row, slot = read_user(counts, sums, u, tracker, r)
    n_items, b = tracker.items.first[row, counts.shape[1]], tracker.bounds
    least = project_item(lowest(slot, 0, n_items, b), row, slot, tracker, r)
    for i in range(n_items):
        if b.bound[slot, i] <= least + reach:
            least = min(least, project_item(i, row, slot, tracker, r))
    return slot, least


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
def dominated(a: int, regret: FloatArray, information: FloatArray) -> bool:
    """Tell whether another arm has no more regret and no less information; of equals, the first."""
    for b in range(regret.shape[0]):
        as_good = regret[b] <= regret[a] and information[b] >= information[a]
        if as_good and (b < a or regret[b] < regret[a] or information[b] > information[a]):
            return True
    return False


@lean
def mix_two_arms(regret: FloatArray, information: FloatArray, out: FloatArray) -> None:
    """Write the chances of the arms under the mixture of the least information ratio.

    An arm without regret is played at once. From arm b to arm a the ratio is convex in the share p
    of a, least at p = Delta_b / (Delta_a - Delta_b) - 2 I_b / (I_a - I_b), cut to [0, 1].
    """
    k = regret.shape[0]
    first = 0
    for a in range(k):
        out[a] = 0.0
        better = regret[a] == regret[first] and information[a] > information[first]
        if regret[a] < regret[first] or better:
            first = a
    if regret[first] <= 0.0:
        share_alike(first, 1.0, regret, information, out)
        return
    for a in range(k):
        out[a] = 0.0 if dominated(a, regret, information) else 1.0
    upper = lower = first
    part = 1.0
    least = np.inf
    for b in range(k):
        for a in range(k):
            if out[a] > 0.0 and out[b] > 0.0 and regret[a] > regret[b]:
                steps = regret[a] - regret[b], information[a] - information[b]
                p = regret[b] / steps[0] - 2.0 * information[b] / steps[1]
                p = min(max(p, 0.0), 1.0)
                ratio = (regret[b] + p * steps[0]) ** 2 / (information[b] + p * steps[1])
                if ratio < least:
                    upper, lower, part, least = a, b, p, ratio
    out[:] = 0.0
    share_alike(upper, part, regret, information, out)
    share_alike(lower, 1.0 - part, regret, information, out)


@lean
def share_alike(
    arm: int, chance: float, regret: FloatArray, information: FloatArray, out: FloatArray
) -> None:
    """Share ``chance`` between the arms that are like ``arm`` but for rounding."""
    k = regret.shape[0]
    scale = spread = 0.0
    for a in range(k):
        scale = max(scale, ALIKE * regret[a])
        spread = max(spread, ALIKE * information[a])
    alike = 0
    for a in range(k):
        near = abs(regret[a] - regret[arm]) <= scale
        alike += near and abs(information[a] - information[arm]) <= spread
    for a in range(k):
        near = abs(regret[a] - regret[arm]) <= scale
        if near and abs(information[a] - information[arm]) <= spread:
            out[a] += chance / alike
