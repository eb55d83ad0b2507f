"""One user's posterior and evidence: the dense Gaussian's, kernels against plain twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.beliefs.cases import random_clicks, random_prior, random_rewards
from tests.beliefs.reference import components_of, mixture

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.errors import LobInputError
from lobandits.learning.table import RewardTable


@st.composite
def priors(draw: st.DrawFn) -> Prior:
    """Several states, scales, directions, factors, loadings or none, one sigma or several."""
    k, seed = draw(st.integers(1, 6)), draw(st.integers(0, 10**6))
    many = np.random.default_rng(seed).uniform(0.2, 2.0, k)
    return random_prior(
        draw(st.integers(1, 4)),
        k,
        seed,
        r=draw(st.integers(0, 3)),
        factors=draw(st.sampled_from([(1.0,), (0.5, 2.0), (0.1, 1.0, 10.0)])),
        e=draw(st.integers(0, 2)),
        likelihood=Gaussian(many if draw(st.booleans()) else 0.7),
    )


def by_state(prior: Prior, shares: FloatArray) -> FloatArray:
    total: FloatArray = shares.reshape(-1, prior.n_states).sum(axis=0)
    return total


@pytest.mark.plain
@settings(max_examples=60)
@given(prior=priors(), n=st.integers(1, 4), seed=st.integers(0, 10**6), faded=st.booleans())
def test_users_have_the_posterior_of_the_dense_gaussian(
    prior: Prior, n: int, seed: int, faded: bool
) -> None:
    counts, sums = random_rewards(n, prior.n_arms, seed)
    if faded:  # weights, not numbers
        counts, sums = 0.37 * counts, 0.37 * sums
    chances, means, log = prior.posterior(counts, sums)
    for u in range(n):
        shares, evidence, tastes, _ = mixture(
            components_of(prior), prior.likelihood, counts[u], sums[u]
        )
        assert log[u] == pytest.approx(evidence, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(chances[u], by_state(prior, shares), atol=1e-9)
        np.testing.assert_allclose(means[u], shares @ np.array(tastes), rtol=1e-9, atol=1e-9)


@settings(max_examples=30)
@given(prior=priors(), seed=st.integers(0, 10**6))
def test_every_component_has_the_dense_variances(prior: Prior, seed: int) -> None:
    counts, sums = random_rewards(2, prior.n_arms, seed)
    share, log, mean, variance = prior._tastes(counts, sums)
    for u in range(2):
        shares, evidence, means, covariances = mixture(
            components_of(prior), prior.likelihood, counts[u], sums[u]
        )
        np.testing.assert_allclose(share[u], shares, atol=1e-9)
        assert log[u] == pytest.approx(evidence, abs=1e-8)
        np.testing.assert_allclose(mean[u], means, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(variance[u], [np.diag(c) for c in covariances], atol=1e-8)


@pytest.mark.plain
@pytest.mark.parametrize("kind", [Bernoulli(), Poisson()], ids=lambda kind: kind.name)
@settings(max_examples=15)
@given(m=st.integers(1, 3), k=st.integers(1, 4), wide=st.booleans(), seed=st.integers(0, 10**6))
def test_clicks_and_counts_settle_as_their_twin(
    kind: Likelihood, m: int, k: int, wide: bool, seed: int
) -> None:
    factors = (0.5, 1.5) if wide else (1.0,)
    prior = random_prior(m, k, seed, factors=factors, likelihood=kind, level=-1.0)
    counts, sums = random_clicks(2, k, 0.2, 9, seed)
    share, log, mean, variance = prior._tastes(counts, sums)
    for u in range(2):
        shares, evidence, means, covariances = mixture(
            components_of(prior), kind, counts[u], sums[u]
        )
        np.testing.assert_allclose(share[u], shares, atol=1e-8)
        assert log[u] == pytest.approx(evidence, abs=1e-7)
        np.testing.assert_allclose(mean[u], means, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(variance[u], [np.diag(c) for c in covariances], atol=1e-7)


def test_a_user_without_rewards_is_the_population() -> None:
    for kind in (Gaussian(0.5), Bernoulli(), Poisson()):
        prior = random_prior(3, 4, seed=1, likelihood=kind, level=-1.0)
        chances, means, log = prior.posterior(np.zeros((2, 4)), np.zeros((2, 4)))
        np.testing.assert_allclose(chances, np.tile(prior.shares, (2, 1)))
        np.testing.assert_allclose(means, np.tile(prior.population_mean, (2, 1)))
        np.testing.assert_allclose(log, 0.0, atol=1e-12)


def test_users_do_not_touch_each_other() -> None:
    for kind in (Gaussian(0.5), Bernoulli()):
        prior = random_prior(3, 5, seed=2, likelihood=kind, level=-1.0)
        counts, sums = random_clicks(7, 5, 0.3, 6, seed=3)
        counts[2] = sums[2] = 0.0
        together = prior.posterior(counts, sums)
        for u in range(7):
            alone = prior.posterior(counts[[u]], sums[[u]])
            for mine, all_of_them in zip(alone, together, strict=True):
                np.testing.assert_array_equal(mine[0], all_of_them[u])


def test_a_million_plays_lose_no_precision() -> None:
    prior = random_prior(2, 4, seed=5)
    counts = np.array([1e6, 0, 1e6, 3])
    sums = counts * [1.0, 0.0, 2.0, 3.0]
    shares, evidence, means, _ = mixture(components_of(prior), prior.likelihood, counts, sums)
    chances, mean, log = prior.posterior(counts[None], sums[None])
    np.testing.assert_allclose(mean[0], shares @ np.array(means), atol=1e-7)
    np.testing.assert_allclose(chances[0], shares, atol=1e-7)
    assert log[0] == pytest.approx(evidence, abs=1e-6)


def test_arms_that_users_do_not_differ_in_are_no_trouble() -> None:
    prior = random_prior(2, 3, seed=6)._with(own=np.zeros(3), loadings=np.zeros((3, 0)))
    counts, sums = random_rewards(5, 3, seed=7)
    for numbers in prior.posterior(counts, sums):
        assert np.isfinite(numbers).all()


def test_weights_are_used_as_they_are() -> None:
    """A weight of 0.99 is no reward less: what is known moves with it, little by little."""
    prior = random_prior(2, 3, seed=8)
    counts, sums = np.array([[3.0, 2.0, 0.0]]), np.array([[6.0, 1.0, 0.0]])
    whole = prior.posterior(counts, sums)
    nearly = prior.posterior(0.99 * counts, 0.99 * sums)
    for mine, other in zip(whole, nearly, strict=True):
        assert 0 < np.abs(mine - other).max() < 0.05


@pytest.mark.parametrize("kind", [Gaussian(0.7), Bernoulli(), Poisson()], ids=lambda k: k.name)
def test_permuting_arms_permutes_the_posterior(kind: Likelihood) -> None:
    prior = random_prior(3, 5, seed=9, e=1, likelihood=kind, level=-0.5)
    order = np.array([3, 1, 4, 0, 2])
    other = prior._with(
        arms=tuple(prior.arms[a] for a in order),
        means=prior.means[:, order],
        loadings=prior.loadings[order],
        own=prior.own[order],
        directions=prior.directions[:, order],  # type: ignore[index]
    )
    counts, sums = random_clicks(6, 5, 0.3, 8, seed=10)
    chances, means, log = prior.posterior(counts, sums)
    mine = other.posterior(counts[:, order], sums[:, order])
    np.testing.assert_allclose(mine[0], chances, atol=1e-9)
    np.testing.assert_allclose(mine[1], means[:, order], atol=1e-9)
    np.testing.assert_allclose(mine[2], log, atol=1e-9)


@pytest.mark.parametrize("kind", [Gaussian(0.7), Bernoulli()], ids=lambda kind: kind.name)
def test_draws_have_the_moments_of_the_posterior(kind: Likelihood) -> None:
    prior = random_prior(2, 3, seed=11, factors=(0.5, 1.5), likelihood=kind, level=-0.5)
    counts, sums = random_clicks(1, 3, 0.4, 3, seed=12)
    counts[0, 2] = sums[0, 2] = 0.0
    n = 100_000
    drawn = prior.draw_posterior(np.tile(counts, (n, 1)), np.tile(sums, (n, 1)), rng=0)
    shares, _, means, covariances = mixture(components_of(prior), kind, counts[0], sums[0])
    rng = np.random.default_rng(1)
    tastes = np.concatenate(
        [
            rng.multivariate_normal(mean, cov, round(n * share))
            for share, mean, cov in zip(shares, means, covariances, strict=True)
        ]
    )
    wanted = kind.mean(tastes)
    size = wanted.std()
    np.testing.assert_allclose(drawn.mean(axis=0), wanted.mean(axis=0), atol=0.03 * size)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(wanted.T), atol=0.05 * size**2)


def test_draws_of_a_seed_are_the_same() -> None:
    prior = random_prior(2, 3, seed=13)
    counts, sums = random_rewards(4, 3, seed=14)
    one, other = (prior.draw_posterior(counts, sums, rng=3) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert (prior.draw_posterior(counts, sums, rng=4) != one).all()


def test_read_only_rewards_are_taken() -> None:
    prior = random_prior(2, 3, seed=15)
    counts, sums = random_rewards(4, 3, seed=16)
    wanted = prior.posterior(counts, sums)
    table = RewardTable(np.arange(4), prior.arms, counts, sums, sums**2)
    for mine, other in zip(prior.posterior(table.counts, table.sums), wanted, strict=True):
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize(
    ("counts", "sums", "words"),
    [
        ([1, 0], [[1, 0]], "counts must have 2 axes"),
        ([[1, 0, 0]], [[1, 0, 0]], r"counts must have the shape \(1, 2\), got \(1, 3\)"),
        ([[1, 0]], [[1, 0], [0, 0]], r"sums must have the shape \(1, 2\), got \(2, 2\)"),
        ([[-1, 0]], [[1, 0]], "counts must not be negative"),
        ([[1, 0]], [[np.nan, 0]], "sums"),
        ([[np.inf, 0]], [[1, 0]], "counts"),
    ],
)
def test_other_rewards_are_refused(counts: object, sums: object, words: str) -> None:
    prior = random_prior(1, 2, seed=17)
    with pytest.raises(LobInputError, match=words):
        prior.posterior(counts, sums)  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match=words):
        prior.draw_posterior(counts, sums, 0)  # type: ignore[arg-type]
