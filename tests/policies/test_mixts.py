"""MixTS and Popular: chances to be the best, and the best seller."""

import numpy as np
import pytest
from tests.beliefs.cases import random_prior
from tests.beliefs.reference import components_of, mixture
from tests.policies.cases import assert_same_game, gaussian
from tests.policies.reference_prior import MixTSTwin, PopularTwin

from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson
from lobandits.errors import LobInputError
from lobandits.policies import MixTS, Popular

MEANS = np.random.default_rng(5).normal(size=(3, 5))
KINDS: list[Likelihood] = [Gaussian(0.7), Bernoulli(), Poisson()]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def test_agree_with_their_twins() -> None:
    prior = random_prior(3, 5, seed=1, level=0.0)
    for policy, twin in ((MixTS(prior), MixTSTwin), (Popular(prior), PopularTwin)):
        assert_same_game(policy, [twin(prior) for _ in range(3)], gaussian(MEANS, 0.7), rounds=15)


@kinds
def test_arms_are_played_with_the_chance_that_they_are_best(kind: Likelihood) -> None:
    prior = random_prior(2, 4, seed=11, likelihood=kind, level=-0.5)
    policy = MixTS(prior, n_points=1024)
    state = policy.start()
    policy.record(state, [0, 0, 1, 3], [1.0, 0.0, 1.0, 0.0], users=[0] * 4)
    rng, wanted = np.random.default_rng(0), np.zeros(4)
    shares, _, means, covariances = mixture(
        components_of(prior), kind, state.counts[0].astype(float), state.sums[0]
    )
    for share, mean, cov in zip(shares, means, covariances, strict=True):
        best = rng.multivariate_normal(mean, cov, 100_000).argmax(axis=1)
        wanted += share * np.bincount(best, minlength=4) / 100_000
    np.testing.assert_allclose(policy.probabilities(state)[0], wanted, atol=0.03)


def test_mixts_explains_states() -> None:
    policy = MixTS(random_prior(2, 3, seed=12))
    state = policy.start()
    explained = policy.explain(state)
    means = [row["posterior mean"] for row in explained.arms]
    np.testing.assert_allclose(means, policy.prior.prior.population_mean)
    np.testing.assert_allclose(
        [row["chance"] for row in explained.states], policy.prior.prior.shares
    )
    with pytest.raises(LobInputError, match="n_points"):
        MixTS(policy.prior, n_points=0)


@kinds
def test_popular_plays_the_best_of_the_population(kind: Likelihood) -> None:
    prior = random_prior(2, 4, seed=10, likelihood=kind, level=-0.5)
    _, means = prior.draw(100_000, 0)
    best = int(means.mean(axis=0).argmax())
    policy = Popular(prior)
    assert policy.choose(policy.start(3), 0).tolist() == [best] * 3
    without = np.arange(4) != best
    assert best not in policy.choose(policy.start(3), 0, without)
