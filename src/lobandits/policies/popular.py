"""Popular: always the best seller."""

from dataclasses import dataclass

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.policies.prior_policy import PriorPolicy
from lobandits.rules.greedy import greedy
from lobandits.statistics import State


@dataclass(frozen=True)
class Popular(PriorPolicy):
    r"""Play the allowed arm of the population's best mean reward, :math:`\arg\max_a E g(\eta_a)`.

    It learns nothing of the user. Whatever learns should beat it, and at first that is hard.

    Parameters
    ----------
    prior
        As in `LobBayes`.

    Examples
    --------
    >>> from lobandits.beliefs import Gaussian, Prior
    >>> prior = Prior(["a", "b"], [1.0], [[1.0, 2.0]], [[0.5], [0.5]], [1, 1], [0], Gaussian(1))
    >>> policy = Popular(prior)
    >>> policy.choose(policy.start(), rng=0)
    array([1])
    """

    name = "popular"
    style = ("#332288", "dashed", "d")

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return 1 for the best allowed arms, 0 for others."""
        return greedy(np.broadcast_to(self._prior.population_mean, state.counts.shape), allowed)
