"""What is believed of a user: how rewards tell of tastes, and the prior that past users taught."""

from lobandits.beliefs.bernoulli import Bernoulli
from lobandits.beliefs.gaussian import Gaussian
from lobandits.beliefs.likelihood import LIKELIHOODS, Likelihood, likelihood_from_dict
from lobandits.beliefs.poisson import Poisson
from lobandits.beliefs.prior import Prior, checked_prior

__all__ = [
    "LIKELIHOODS",
    "Bernoulli",
    "Gaussian",
    "Likelihood",
    "Poisson",
    "Prior",
    "checked_prior",
    "likelihood_from_dict",
]
