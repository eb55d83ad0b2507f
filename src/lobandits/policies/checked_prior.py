"""The checks of what a policy on a prior is given."""

import numpy as np

from lobandits._checks import checked_spread
from lobandits.errors import LobInputError
from lobandits.priors import Prior


def checked_prior(prior: Prior) -> Prior:
    """Return a prior, or say where one comes from."""
    if not isinstance(prior, Prior):
        raise LobInputError(
            "prior must be a Prior, as learn_prior(logs) or Prior.from_orders(orders) makes it, "
            f"got {type(prior).__name__}"
        )
    return prior


EXTREME = 1e6  # times the spread of the means: sigma beyond tells nothing, or all, at once


def checked_sigma(prior: Prior, sigma: float | None) -> float:
    """Return the noise of rewards: as given, or the prior's."""
    return prior.sigma if sigma is None else checked_spread("sigma", sigma)


def sound_sigma(prior: Prior, sigma: float) -> float:
    """Return sigma, cut to where precisions N / sigma^2 and the prior's can be added."""
    size = float(np.sqrt(np.trace(prior.population_covariance) / prior.n_arms))
    return min(max(sigma, size / EXTREME), size * EXTREME)
