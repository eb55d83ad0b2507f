"""LobIDS: information-directed sampling on the projections, with a scale-free working prior."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._jit import kernel, lean
from lobandits.policies.explanation import Details
from lobandits.policies.hypotheses import (
    DROP,
    Inference,
    Round,
    find_hypotheses,
    open_inference,
    split_by_top,
)
from lobandits.policies.information_ratio import mix_two_arms
from lobandits.policies.line_prior import best_positions
from lobandits.policies.loss_bounds import LossBounds, LossState, Memory
from lobandits.policies.losses import fit_of_states
from lobandits.policies.order_policy import OrderPolicy
from lobandits.policies.shares import checked_shares


@dataclass(frozen=True)
class LobIDS(OrderPolicy[LossState]):
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
    below the best count alike. The first pull is the arm of the best average position. Where only
    some arms are allowed, Max(s) and the regret are among these.

    Parameters
    ----------
    orders, sigma, shares
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
    style = ("#aa4499", "solid", "p")
    state_type = LossState
    shares: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(shares=checked_shares(self.shares, self.orders.n_states))

    @cached_property
    def _bounds(self) -> LossBounds:
        """The bounds that save projections."""
        return LossBounds(self.orders, self._keys, -2 * self.sigma**2 * self._log_shares)

    def _inference(self, state: LossState) -> Inference:
        return open_inference(self._bounds.open(state)[0], self.n_arms)

    def odds(self, state: LossState, allowed: BoolArray) -> FloatArray:
        """Return the chances of the arms in the best mixture of two."""
        args = state.counts, state.sums, allowed, self._log_shares, self.sigma
        return mixtures(*args, self._inference(state))

    def new_state(self, n_users: int) -> LossState:
        """Return an empty state."""
        return self._bounds.new_state(LossState, n_users)

    def one_time_state(self, n_users: int) -> LossState:
        """Return an empty state without bounds."""
        return self._bounds.one_time_state(LossState, n_users)

    def details(self, state: LossState, allowed: BoolArray) -> Details:
        """Return each arm's chance to be on top, regret and information; each state's weight."""
        states = fit_of_states(self.orders, state, self.sigma)
        if not state.plays[0]:
            return Details(states=states, notes=["The first pull: the best average position."])
        inference = self._inference(state)
        n = infer(state.counts, state.sums, 0, allowed[0], self.sigma, inference)
        found, moments = inference.hypotheses, inference.moments
        weight, kept = np.zeros(self.orders.n_states), np.flatnonzero(found.share[:n])
        np.add.at(weight, found.state[kept], found.share[kept] * found.weight[kept].sum(1))
        played = state.means[0][state.counts[0] > 0]
        regret = (played.max() - played.min() + self.sigma) * moments.regret
        on_top = np.where(allowed[0], moments.mass, 0.0)
        return Details(
            arms={"on top": on_top, "regret": regret, "information": moments.information},
            states={**states, "weight": weight / weight.sum()},
        )


@kernel
def mixtures(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    log_shares: FloatArray,
    sigma: float,
    inference: Inference,
) -> FloatArray:
    """Return every user's chances: the best position at first, then the best mixture."""
    odds = np.empty(counts.shape)
    tables, moments = inference.losses.tables, inference.moments
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        if counts[u].sum() == 0:
            row = u if len(tables.kind) > 1 else 0
            best_positions(tables, row, log_shares, some, inference.line, odds[u])
        else:
            infer(counts, sums, u, some, sigma, inference)
            mix_two_arms(moments.regret, moments.information, some, 2.0, odds[u])
    return odds


@lean
def infer(
    counts: IntArray, sums: FloatArray, u: int, allowed: BoolArray, sigma: float,
    inference: Inference,
) -> int:  # fmt: skip
    """Write regret and information of one user's arms; return how many hypotheses there are."""
    scale = 2.0 * sigma * sigma
    row, n, least = find_hypotheses(counts, sums, u, allowed, inference, scale * DROP)
    low, unit = units(inference.losses.memory, sigma)
    now = counts[u].sum() + 1.0
    noise = (sigma / unit) ** 2
    split_by_top(Round(row, n, least, scale, low, unit, noise, now), allowed, inference)
    return n


@lean
def units(r: Memory, sigma: float) -> tuple[float, float]:
    """Return the lowest average, and the range of the averages plus sigma."""
    low, high = np.inf, -np.inf
    for a in range(r.mean.shape[0]):
        if r.weight[a] > 0.0:
            low = min(low, r.mean[a])
            high = max(high, r.mean[a])
    return low, high - low + sigma
