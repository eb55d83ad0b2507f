"""Popular: always the best seller."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.beliefs.prior import HasPrior, Prior, checked_prior
from lobandits.policies.policy import Policy
from lobandits.policies.state import State


@dataclass(frozen=True)
class Popular(Policy[State]):
    r"""Play the allowed arm of the population's best mean reward, :math:`\arg\max_a E g(\eta_a)`.

    It learns nothing of the user. Whatever learns should beat it, and at first that is hard.

    Parameters
    ----------
    prior
        As in `LobBayes`.

    Examples
    --------
    >>> from lobandits.beliefs import Gaussian
    >>> prior = Prior(["a", "b"], [1.0], [[1.0, 2.0]], [[0.5], [0.5]], [1, 1], [0], Gaussian(1))
    >>> policy = Popular(prior)
    >>> policy.choose(policy.start(), rng=0)
    array([1])
    """

    name = "popular"
    style = ("#332288", "dashed", "d")
    prior: HasPrior = field(repr=False, metadata={"decode": Prior.from_dict})
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior)
        self._set(prior=prior, n_arms=prior.n_arms, arms=prior.arms)
        super().__post_init__()

    @cached_property
    def sigma(self) -> float:
        """The standard deviation of a reward, which tells users who change from noise."""
        return self.prior.prior.sigma

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the best allowed arms, 0 for others."""
        means = np.where(allowed, self.prior.prior.population_mean, -np.inf)
        best = (means == means.max(axis=1, keepdims=True)).astype(np.float64)
        odds: FloatArray = np.broadcast_to(best, state.counts.shape).copy()
        return odds
