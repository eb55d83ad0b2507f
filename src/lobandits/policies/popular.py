"""Popular: always the best seller."""

from dataclasses import dataclass, field

import numpy as np

from lobandits._checks import BoolArray, FloatArray
from lobandits.policies.policy import Policy
from lobandits.policies.state import State
from lobandits.priors.prior import Prior, checked_prior


@dataclass(frozen=True)
class Popular(Policy[State]):
    r"""Play the allowed arm of the population's best mean, :math:`\arg\max_a \sum_s w_s m_{sa}`.

    It learns nothing of the user. Whatever learns should beat it, and at first that is hard.

    Parameters
    ----------
    prior
        As in `LobBayes`.

    Examples
    --------
    >>> prior = Prior(["a", "b"], [1.0], [[1.0, 2.0]], np.eye(2), 0.0, [0.0], 1.0)
    >>> policy = Popular(prior)
    >>> policy.choose(policy.start(), rng=0)
    array([1])
    """

    name = "popular"
    style = ("#332288", "dashed", "d")
    prior: Prior = field(repr=False, metadata={"decode": Prior.from_dict})
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior)
        self._set(n_arms=prior.n_arms, arms=prior.arms)
        super().__post_init__()

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the best allowed arms, 0 for others."""
        means = np.where(allowed, self.prior.population_mean, -np.inf)
        best = (means == means.max(axis=1, keepdims=True)).astype(np.float64)
        odds: FloatArray = np.broadcast_to(best, state.counts.shape).copy()
        return odds
