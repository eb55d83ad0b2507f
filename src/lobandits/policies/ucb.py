"""UCB, the paper's "Classical UCB"."""

from dataclasses import dataclass, field

from lobandits.basics.checks import BoolArray, FloatArray, checked_spread, whole
from lobandits.orders.arms import arm_names
from lobandits.policies.explanation import Details
from lobandits.policies.policy import Policy
from lobandits.rules.greedy import greedy
from lobandits.rules.optimism import upper_bounds
from lobandits.statistics import State


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
        return greedy(upper_bounds(state.counts, state.sums, 2 * self.sigma**2), allowed)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the upper confidence bounds."""
        upper = upper_bounds(state.counts, state.sums, 2 * self.sigma**2)
        return Details(arms={"upper": upper[0]})
