"""Clicks and counts against numerical integration: tastes, mean rewards and evidence."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from tests.beliefs.cases import random_prior
from tests.beliefs.reference import cells_of, components_of, posterior

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Bernoulli, Likelihood, Poisson, Prior

NODES = {2: np.linspace(-7.0, 7.0, 121), 3: np.linspace(-7.0, 7.0, 61)}
RATES, NUMBERS = (0.005, 0.02, 0.1, 0.5), (1, 5, 20, 50)


def integrated(
    prior: Prior, counts: FloatArray, sums: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log evidence, and tastes with their weights: a grid around where the posterior lies."""
    (c,), k, kind = components_of(prior), len(counts), prior.likelihood
    mean, cov, _ = posterior(c, cells_of(kind, counts, sums, c))
    root, nodes = 1.3 * np.linalg.cholesky(cov), NODES[k]
    grid = np.stack(np.meshgrid(*[nodes] * k, indexing="ij"), axis=-1).reshape(-1, k)
    eta = mean + grid @ root.T
    log = multivariate_normal.logpdf(eta, c.mean, c.covariance)
    for a in np.flatnonzero(counts):
        log += kind.log_density(counts[a], sums[a], eta[:, a])
    weight = np.exp(log - log.max())
    cell = np.linalg.slogdet(root)[1] + k * np.log(nodes[1] - nodes[0])
    evidence = float(np.log(weight.sum()) + log.max() + cell)
    return evidence, eta, weight / weight.sum()


def moments(values: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    mean = weight @ values
    return mean, np.sqrt(weight @ (values - mean) ** 2)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("kind", [Bernoulli(), Poisson()], ids=lambda kind: kind.name)
def test_posteriors_are_near_the_integral(
    kind: Likelihood, k: int, rate: float, number: int
) -> None:
    rng = np.random.default_rng([k, round(1000 * rate), number])
    centre = kind.link(np.full(k, rate)) + rng.normal(0.0, 0.5, k)
    prior = random_prior(1, k, seed=number, likelihood=kind)._with(means=centre[None])
    counts = rng.integers(1, number + 1, k)
    sums = rng.binomial(counts, rate).astype(float)
    if k == 3:
        counts[2] = sums[2] = 0  # what other arms tell of it
    evidence, eta, weight = integrated(prior, counts.astype(float), sums)
    _, means, log = prior.posterior(counts[None], sums[None])
    tastes = prior._tastes(counts[None].astype(float), sums[None])[2][0, 0]
    assert log[0] == pytest.approx(evidence, abs=0.05)
    mean, sd = moments(eta, weight)
    assert (np.abs(tastes - mean) < 0.02 * sd).all()
    mean, sd = moments(kind.mean(eta), weight)
    assert (np.abs(means[0] - mean) < 0.05 * sd).all()


@pytest.mark.parametrize("kind", [Bernoulli(), Poisson()], ids=lambda kind: kind.name)
def test_chances_of_states_are_near_those_of_the_integral(kind: Likelihood) -> None:
    prior = random_prior(2, 2, seed=3, likelihood=kind, level=-1.5)
    counts, sums = np.array([20.0, 6.0]), np.array([9.0, 0.0])
    logs = [
        np.log(prior.shares[s])
        + integrated(
            prior._with(shares=[1.0], means=prior.means[[s]], scales=prior.scales[[s]]),
            counts,
            sums,
        )[0]
        for s in range(2)
    ]
    chances, _, log = prior.posterior(counts[None], sums[None])
    assert log[0] == pytest.approx(np.logaddexp.reduce(logs), abs=0.05)
    wanted = np.exp(logs - np.logaddexp.reduce(logs))
    np.testing.assert_allclose(chances[0], wanted, atol=0.02)
