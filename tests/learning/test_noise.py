"""The noise of Gaussian rewards: one sigma, or one by arm where held-out users say so."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.beliefs import Gaussian
from lobandits.learning.fit_prior import fit_prior


def table(sigma: object, seed: int, n: int = 400, rewards: int = 5) -> lob.RewardTable:
    """Users whose rewards of each arm have the noise of that arm."""
    rng = np.random.default_rng(seed)
    tastes = rng.normal(3.0, 0.5, (n, 4))
    values = tastes[:, None] + np.asarray(sigma) * rng.standard_normal((n, rewards, 4))
    counts = np.full((n, 4), rewards)
    return lob.RewardTable(
        np.arange(n), tuple("wxyz"), counts, values.sum(axis=1), (values**2).sum(axis=1)
    )


def test_arms_whose_noise_differs_have_a_sigma_each() -> None:
    sigma = np.array([0.5, 1.0, 1.0, 2.0])
    found = fit_prior(table(sigma, seed=1), n_states=1).prior.likelihood
    assert isinstance(found, Gaussian)
    np.testing.assert_allclose(found.sigma, sigma, rtol=4 / np.sqrt(2 * 400 * 4))


@pytest.mark.parametrize("seed", range(5))
def test_arms_of_one_noise_have_one_sigma(seed: int) -> None:
    found = fit_prior(table(1.5, seed=seed, n=100), n_states=1).prior.likelihood
    assert isinstance(found, Gaussian)
    assert np.ndim(found.sigma) == 0
    assert found.sigma == pytest.approx(1.5, rel=4 / np.sqrt(2 * 100 * 16))


def test_each_arms_sigma_goes_through_a_file(tmp_path: object) -> None:
    prior = fit_prior(table([0.5, 1.0, 1.0, 2.0], seed=2), n_states=1).prior
    prior.save(f"{tmp_path}/prior.json")
    assert lob.Prior.load(f"{tmp_path}/prior.json") == prior
