"""UCB, the paper's "Classical UCB"."""

from dataclasses import dataclass, field

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, checked_spread, whole
from lobandits.basics.kernel import lean
from lobandits.orders.arms import arm_names
from lobandits.policies.explanation import Details
from lobandits.policies.policy import Policy
from lobandits.policies.state import State


@dataclass(frozen=True)
class UCB(Policy[State]):
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
    style = ("#8c8c8c", "dashed", "s")
    n_arms: int
    sigma: float
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._set(
            n_arms=whole("n_arms", self.n_arms),
            sigma=checked_spread("sigma", self.sigma),
            arms=arm_names(self.n_arms, self.arms or None),
        )
        super().__post_init__()

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the arms of the largest index, 0 for the others."""
        return largest_indices(*state.effective, allowed, 2 * self.sigma**2)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the upper confidence bounds; -inf where an arm is not allowed."""
        return Details(arms={"upper": upper_bounds(state, allowed, self.sigma)})


def upper_bounds(state: State, allowed: BoolArray, sigma: float) -> FloatArray:
    """Return the indices of the first user's arms."""
    index = np.empty(state.n_arms)
    counts, sums = state.effective
    indices(counts[0], sums[0], allowed[0], 2 * sigma**2, index)
    return index


@lean
def indices(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float, out: FloatArray
) -> float:
    """Write mean + sqrt(width log t / N) of each arm (-inf: not allowed); return the largest."""
    plays = 0
    for a in range(len(counts)):
        plays += counts[a]
    scale = width * np.log(plays + 1.0)
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


def largest_indices(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float
) -> FloatArray:
    """Return 1 where an arm has its user's largest index, else 0."""
    odds = np.empty(counts.shape)
    mark_largest(counts, sums, allowed, width, odds)
    return odds


@lean
def mark_largest(
    counts: IntArray, sums: FloatArray, allowed: BoolArray, width: float, odds: FloatArray
) -> None:
    """Write 1 where an arm has its user's largest index, else 0. Cost O(n k)."""
    n, k = counts.shape
    for u in range(n):
        index = odds[u]
        best = indices(counts[u], sums[u], allowed[u if len(allowed) > 1 else 0], width, index)
        for a in range(k):
            index[a] = 1.0 if index[a] == best else 0.0
