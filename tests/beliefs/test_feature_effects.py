"""Features move the prior's mean: posteriors, points and draws are the dense Gaussian's."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.beliefs.cases import random_clicks, random_prior, random_rewards
from tests.beliefs.reference import (
    Component,
    cells_of,
    components_of,
    mixture,
    points_of_user,
    version_shares,
)

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.feature_effects import FeatureEffects
from lobandits.beliefs.features import Features
from lobandits.beliefs.points import lifted, make_mixture, points_of_users
from lobandits.errors import LobInputError

KINDS: list[Likelihood] = [Gaussian(0.7), Bernoulli(), Poisson()]
FEATURES = Features.of({"age": [20, 30, 40], "club": ["a", "b", "b"]}, least_rows=1)
P = len(FEATURES.columns)


def with_features(prior: Prior, seed: int, size: float = 0.4) -> Prior:
    """The prior with planted effects of two features."""
    rng = np.random.default_rng([seed, 1])
    r, k = prior.loadings.shape[1], prior.n_arms
    shared, single = rng.normal(0, size, (r, P)), rng.normal(0, size, (k, P))
    return prior._with(features=FeatureEffects(FEATURES, shared, single))


def moved(components: list[Component], lift: FloatArray) -> list[Component]:
    return [c._replace(mean=c.mean + lift) for c in components]


def lift_of(prior: Prior, x: FloatArray) -> FloatArray:
    """L W x + B x, written out."""
    effects = prior.features
    assert effects is not None
    lift: FloatArray = prior.loadings @ (effects.shared @ x) + effects.single @ x
    return lift


@pytest.mark.plain
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@settings(max_examples=15)
@given(
    m=st.integers(1, 3), k=st.integers(1, 5), r=st.integers(0, 2), wide=st.booleans(),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_posteriors_are_those_of_the_dense_gaussian_with_a_moved_mean(
    kind: Likelihood, m: int, k: int, r: int, wide: bool, seed: int
) -> None:
    factors = (0.5, 2.0) if wide else (1.0,)
    level = 2.0 if kind.exact else -1.0
    prior = with_features(random_prior(m, k, seed, r, factors, 1, kind, level), seed)
    counts, sums = random_rewards(3, k, seed) if kind.exact else random_clicks(3, k, 0.2, 9, seed)
    x = np.random.default_rng(seed).normal(0, 1, (3, P))
    chances, means, log = prior.posterior(counts, sums, x)
    share, _, eta, variance = prior._tastes(counts, sums, prior.lifts(x))
    for u in range(3):
        dense = moved(components_of(prior), lift_of(prior, x[u]))
        shares, evidence, tastes, covariances = mixture(dense, kind, counts[u], sums[u])
        assert log[u] == pytest.approx(evidence, rel=1e-9, abs=1e-9)
        np.testing.assert_allclose(share[u], shares, atol=1e-9)
        np.testing.assert_allclose(chances[u], shares.reshape(-1, m).sum(axis=0), atol=1e-9)
        np.testing.assert_allclose(eta[u], tastes, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(variance[u], [np.diag(c) for c in covariances], atol=1e-8)
        if kind.exact:
            np.testing.assert_allclose(means[u], shares @ np.array(tastes), rtol=1e-9, atol=1e-9)


@pytest.mark.plain
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("trust", [0.0, 0.6])
@settings(max_examples=6)
@given(m=st.integers(1, 2), k=st.integers(1, 5), seed=st.integers(0, 10**6))
def test_points_strict_versions_and_tops_are_those_of_the_moved_twin(
    kind: Likelihood, trust: float, m: int, k: int, seed: int
) -> None:
    prior = with_features(random_prior(m, k, seed, likelihood=kind, level=-0.5), seed)
    counts, sums = random_clicks(3, k, 0.4, 6, seed)
    lifts = prior.lifts(np.random.default_rng(seed).normal(0, 1, (3, P)))
    assert lifts is not None
    mixed = make_mixture(prior.components, prior.orders if trust else None, trust)
    cells = settled_cells(counts, sums, kind, mixed.components, lifts)
    every = np.ones((1, k), np.bool_)
    points, top, shares = points_of_users(counts, cells, every, lifted(mixed, lifts), 8)
    for u in range(3):
        dense = moved(components_of(prior), lifts[u])
        evidence = [cells_of(kind, counts[u], sums[u], c) for c in dense]
        known = version_shares(dense, evidence, prior.orders, trust)
        np.testing.assert_allclose(shares[u], known, atol=1e-7)
        wanted, tops = points_of_user(
            dense, evidence, int(counts[u].sum()), 8, [True] * k, prior.orders, trust
        )
        np.testing.assert_allclose(points[u].T, wanted, atol=1e-6)
        assert top[u].tolist() == tops


def test_features_that_say_nothing_leave_every_bit_as_it_was() -> None:
    plain = random_prior(2, 4, seed=3, likelihood=Bernoulli(), level=-1.0)
    silent = with_features(plain, 3, size=0.0)
    counts, sums = random_clicks(5, 4, 0.3, 6, seed=3)
    x = np.random.default_rng(0).normal(size=(5, P))
    for one, other in zip(
        plain.posterior(counts, sums), silent.posterior(counts, sums, x), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    loud = with_features(plain, 3)
    for one, other in zip(
        plain.posterior(counts, sums),
        loud.posterior(counts, sums, np.zeros((5, P))),  # of nobody is anything known
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_draws_have_the_moved_means() -> None:
    prior = with_features(random_prior(2, 3, seed=5), 5)
    table = {"age": [37], "club": ["b"]}
    wanted = prior.posterior(np.zeros((1, 3)), np.zeros((1, 3)), table)[1][0]
    x = np.tile(prior.features.encode(table), (40_000, 1))  # type: ignore[union-attr]
    nothing = np.zeros((len(x), 3))
    for means in (prior.draw(len(x), 0, x)[1], prior.draw_posterior(nothing, nothing, 0, x)):
        error = means.std(axis=0) / np.sqrt(len(x))
        assert (np.abs(means.mean(axis=0) - wanted) < 5 * error).all()


def test_priors_keep_their_features_in_files_and_with_new_arms() -> None:
    prior = with_features(random_prior(2, 3, seed=5), 5)
    data = json.loads(json.dumps(prior.to_dict()))
    assert Prior.from_dict(data) == prior
    grown = prior.with_arm("new", like="arm 1")
    assert grown.features is not None
    x = np.ones((1, P))
    lifts, more = prior.lifts(x), grown.lifts(x)
    assert lifts is not None
    assert more is not None
    np.testing.assert_allclose(more[0, [0, 1, 2, 3]], lifts[0, [0, 1, 2, 1]])
    data["features"]["colour"] = 1
    with pytest.raises(LobInputError, match=r"unknown field of features 'colour'"):
        Prior.from_dict(data)


def test_effects_of_another_shape_are_refused() -> None:
    prior = with_features(random_prior(1, 3, seed=5), 5)
    effects = prior.features
    assert effects is not None
    with pytest.raises(LobInputError, match="a row for each of 2 loadings and 3 arms, got 2 and 2"):
        prior._with(features=effects._with(single=effects.single[:2]))
    with pytest.raises(LobInputError, match="shared must have 3 columns"):
        effects._with(shared=np.ones((2, 2)))
