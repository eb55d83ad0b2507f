"""UCB: the classical upper confidence bound policy, the paper's listing "Classical UCB"."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, read_only, whole
from lobandits._jit import kernel
from lobandits.orders.arms import arm_names
from lobandits.policies.base import Policy
from lobandits.policies.explain import Details
from lobandits.policies.rewards import checked_spread
from lobandits.policies.sampling import pick, spread
from lobandits.policies.state import State


@dataclass(frozen=True, eq=False, repr=False)
class UCB(Policy):
    r"""Play argmax_a of the index :math:`\hat\mu_a + \sqrt{2 \sigma^2 \log t / N_a}`.

    t is one more than the plays so far; an arm never played has the index inf. Ties are broken
    uniformly at random.

    Parameters
    ----------
    n_arms
        Number of arms.
    sigma
        Standard deviation of rewards, the confidence parameter c of the paper.
    arms
        Their names; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = UCB(n_arms=3, sigma=1.0)
    >>> state = policy.start(n_users=2)
    >>> arms = policy.choose(state, rng=0)
    >>> policy.record(state, arms, rewards=[1.0, 0.5])
    >>> policy.probabilities(state).sum(axis=1)
    array([1., 1.])
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

    @cached_property
    def _allowed(self) -> BoolArray:
        return read_only(np.ones((1, self.n_arms), np.bool_))

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return each user's arm of the largest index."""
        return best_arms(state.counts, state.sums, self._allowed, 2 * self.sigma**2, noise)

    def propensities(self, state: State) -> FloatArray:
        """Return equal chances for the arms that share the largest index."""
        return best_arm_odds(state.counts, state.sums, self._allowed, 2 * self.sigma**2)

    def details(self, state: State) -> Details:
        """Return the upper confidence bounds."""
        return Details(arms={"upper": upper_bounds(state, self._allowed, 2 * self.sigma**2)})


def upper_bounds(state: State, allowed: BoolArray, width: float) -> FloatArray:
    """Return the indices of the one user in ``state``; -inf where an arm is not allowed."""
    out = np.empty(state.n_arms)
    indices(state.counts[0], state.sums[0], allowed[0], width, out)
    return out


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
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float, noise: FloatArray
) -> IntArray:
    """Return each user's arm of the largest index; ``allowed`` (1 or n, k). Cost O(n k)."""
    n, k = counts.shape
    chosen = np.empty(n, np.int64)
    index = np.empty(k)
    for u in range(n):
        row = u if len(allowed) > 1 else 0
        best = indices(counts[u], sums[u], allowed[row], width, index)
        chosen[u], _ = pick(index, best, noise[u])
    return chosen


@kernel
def best_arm_odds(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float
) -> FloatArray:
    """Return the chances of `best_arms` over its noise, (n, k)."""
    n, k = counts.shape
    odds = np.zeros((n, k))
    index = np.empty(k)
    for u in range(n):
        row = u if len(allowed) > 1 else 0
        best = indices(counts[u], sums[u], allowed[row], width, index)
        spread(index, best, 1.0, odds[u])
    return odds
