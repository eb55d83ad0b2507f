"""TS, the paper's "Gaussian-Gaussian TS"."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    checked_spread,
    finite_array,
    real,
    whole,
)
from lobandits.beliefs.arm_means import ArmPrior, arm_posterior
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names
from lobandits.policies.explanation import Details
from lobandits.policies.policy import Policy
from lobandits.rules.draws import largest_draw, largest_draw_odds
from lobandits.statistics import State


@dataclass(frozen=True)
class TS(Policy[State]):
    r"""Play argmax_a of draws :math:`\tilde\mu_a \sim N(m_a, v_a)` from the posterior of each mean.

    With prior :math:`N(m_0, v_0)` and rewards :math:`N(\mu_a, \sigma^2)` the posterior is
    :math:`1 / v_a = 1 / v_0 + N_a / \sigma^2`,
    :math:`m_a = v_a (m_0 / v_0 + \sum r / \sigma^2)`.

    Parameters
    ----------
    n_arms
        Number of arms.
    sigma
        Standard deviation of rewards, the paper's c.
    prior_mean, prior_std
        The prior of every arm's mean, one for all arms or one for each; wide, since one narrower
        than the means' spread fails.
    arms
        Their names; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = TS(n_arms=2, sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, [0, 1], [1.0, 0.0], users=0)
    >>> policy.probabilities(state).round(4)
    array([[0.7602, 0.2398]])
    """

    name = "ts"
    style = ("#009e73", "solid", "o")
    n_arms: int
    sigma: float
    prior_mean: float | FloatArray = 0.0
    prior_std: float | FloatArray = 100.0
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._set(
            n_arms=whole("n_arms", self.n_arms),
            sigma=checked_spread("sigma", self.sigma),
            arms=arm_names(self.n_arms, self.arms or None),
        )
        self._set(
            prior_mean=self._for_arms("prior_mean", self.prior_mean),
            prior_std=self._for_arms("prior_std", self.prior_std),
        )
        for std in np.atleast_1d(self.prior_std).tolist():
            checked_spread("prior_std", std)
        super().__post_init__()

    def _for_arms(self, name: str, value: ArrayLike) -> float | FloatArray:
        """Return one number for all arms, or one for each."""
        if np.ndim(value) == 0:
            return real(name, value)  # type: ignore[arg-type]
        array = finite_array(name, value, ndim=1)
        if len(array) != self.n_arms:
            raise LobInputError(
                f"{name} has {len(array)} entries for {self.n_arms} arms; give one for each, or "
                "one number for all"
            )
        return array

    @cached_property
    def _prior(self) -> ArmPrior:
        mean = np.broadcast_to(self.prior_mean, self.n_arms).astype(np.float64)
        std = np.broadcast_to(self.prior_std, self.n_arms).astype(np.float64)
        return ArmPrior(self.sigma, mean, (self.sigma / std) ** 2)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chance that each allowed arm's draw is the largest, to about 1e-9."""
        return largest_draw_odds(*arm_posterior(state.counts, state.sums, self._prior), allowed)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return one standard normal number per arm of each decision, shape + (n_arms,)."""
        return rng.standard_normal((*shape, self.n_arms))

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return each user's allowed arm of the largest draw: far cheaper than its chance."""
        means, stds = arm_posterior(state.counts, state.sums, self._prior)
        return largest_draw(means, stds, noise, allowed)

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the posterior of every mean."""
        means, stds = arm_posterior(state.counts, state.sums, self._prior)
        return Details(arms={"posterior mean": means[0], "posterior std": stds[0]})
