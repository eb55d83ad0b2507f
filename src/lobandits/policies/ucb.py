"""UCB, the paper's "Classical UCB"; and TopArmsUCB, the same on arms that can be on top."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only, whole
from lobandits._jit import kernel
from lobandits.orders.arms import arm_names
from lobandits.policies.base import Details
from lobandits.policies.families import (
    OneKernelPolicy,
    OrderPolicy,
    checked_spread,
    pick,
    spread,
)
from lobandits.policies.state import State


class IndexPolicy(OneKernelPolicy):
    """Plays the allowed arm of the largest upper confidence bound."""

    sigma: float

    @cached_property
    def _allowed(self) -> BoolArray:
        """The arms that may be played, (1 or n_users, n_arms): by default all."""
        return read_only(np.ones((1, self.n_arms), np.bool_))

    def _play(self, state: State, noise: FloatArray, odds: FloatArray) -> IntArray:
        width = 2 * self.sigma**2
        return best_arms(state.counts, state.sums, self._allowed, width, noise, odds)

    def details(self, state: State) -> Details:
        """Return the upper confidence bounds; -inf where an arm is not allowed."""
        upper = np.empty(self.n_arms)
        indices(state.counts[0], state.sums[0], self._allowed[0], 2 * self.sigma**2, upper)
        return Details(arms={"upper": upper})


@dataclass(frozen=True, eq=False, repr=False)
class UCB(IndexPolicy):
    r"""Play argmax_a of the index :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}`.

    t is one more than the plays so far; an arm never played has the index inf. Ties are broken at
    random.

    Parameters
    ----------
    n_arms
        Number of arms.
    sigma
        Standard deviation of rewards, the paper's c.
    arms
        Their names; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = UCB(n_arms=3, sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, arms=[1], rewards=[1.0])
    >>> policy.probabilities(state)
    array([[0.5, 0. , 0.5]])
    """

    name = "ucb"
    n_arms: int
    sigma: float
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._fix(
            n_arms=whole("n_arms", self.n_arms),
            sigma=checked_spread("sigma", self.sigma),
            arms=arm_names(self.n_arms, self.arms or None),
        )


@dataclass(frozen=True, eq=False, repr=False)
class TopArmsUCB(IndexPolicy, OrderPolicy):
    r"""Play argmax of :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}` over the arms in A_0.

    These are :math:`A_0 = \cup_s \mathrm{Max}(s)`: an arm below another one in every state is never
    the best, so it is never played.

    Parameters
    ----------
    orders, sigma
        As in `LobTS`.

    Examples
    --------
    >>> from lobandits.orders import LatentOrders
    >>> policy = TopArmsUCB(LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]]), sigma=1.0)
    >>> policy.probabilities(policy.start())
    array([[0.5, 0. , 0.5]])
    """

    name = "toparms"

    @cached_property
    def _allowed(self) -> BoolArray:
        return read_only(np.atleast_2d(self.orders.tops))

    def details(self, state: State) -> Details:
        """Return the upper confidence bounds, and which arms are on top of some state."""
        return Details(arms={"on top": self._allowed[0], **super().details(state).arms})


@kernel
def indices(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float, out: FloatArray
) -> float:
    """Write mean + sqrt(width log t / N) of each arm (-inf: not allowed); return the largest."""
    scale = width * np.log(counts.sum() + 1.0)
    best = -np.inf
    for a in range(len(counts)):
        if not allowed[a]:
            out[a] = -np.inf
        elif counts[a] == 0:
            out[a] = np.inf
        else:
            out[a] = sums[a] / counts[a] + np.sqrt(scale / counts[a])
        best = max(best, out[a])
    return best


@kernel
def best_arms(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    width: float,
    noise: FloatArray,
    odds: FloatArray,
) -> IntArray:
    """Return each user's arm of the largest index; without noise, write the odds. Cost O(n k)."""
    n, k = counts.shape
    chosen = np.empty(len(noise), np.int64)
    index = np.empty(k)
    for u in range(n):
        row = u if len(allowed) > 1 else 0
        best = indices(counts[u], sums[u], allowed[row], width, index)
        if len(noise):
            chosen[u], _ = pick(index, best, noise[u])
        else:
            spread(index, best, 1.0, odds[u])
    return chosen
