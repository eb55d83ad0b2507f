"""Posteriors of all states against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.priors.reference import posterior, random_prior, random_rewards

from lobandits.priors.posterior import condition, make_posterior, settle


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 4), k=st.integers(2, 7), seed=st.integers(0, 10**6), wide=st.booleans())
def test_every_component_is_the_dense_posterior(m: int, k: int, seed: int, wide: bool) -> None:
    factors = (0.5, 2.0) if wide else (1.0,)
    prior = random_prior(m, k, seed, factors)
    counts, sums = random_rewards(1, k, seed)
    room = make_posterior(len(factors), m, k)
    condition(counts[0].astype(np.int64), sums[0], prior.sigma, prior.components(), room)
    seen = counts[0] > 0
    constant = 0.5 * np.log(room.weight[seen] / (2 * np.pi)).sum()
    for j in range(m * len(factors)):
        f, s = divmod(j, m)
        settle(j, prior.components(), room)
        mean, cov, log = posterior(prior, s, counts[0], sums[0], factors[f])
        mine = room.cov[f] + room.scale_var[j] * np.outer(room.gain[j], room.gain[j])
        np.testing.assert_allclose(room.mean[j], mean, atol=1e-8)
        np.testing.assert_allclose(mine, cov, atol=1e-8)
        np.testing.assert_allclose(room.root[f].T @ room.root[f], room.cov[f], atol=1e-9)
        share = np.log(prior.shares[s] / len(factors))
        assert room.log[j] + constant == pytest.approx(log + share, abs=1e-7)


def test_chances_and_evidence_of_users_are_those_of_the_mixture() -> None:
    prior = random_prior(3, 5, seed=1)
    counts, sums = random_rewards(20, 5, seed=2)
    chances, means, evidence = prior.posterior(counts, sums)
    for u in range(20):
        parts = [posterior(prior, s, counts[u], sums[u]) for s in range(3)]
        weights = prior.shares * np.exp([log for _, _, log in parts])
        assert evidence[u] == pytest.approx(np.log(weights.sum()), abs=1e-8)
        np.testing.assert_allclose(chances[u], weights / weights.sum(), atol=1e-9)
        mixed = sum(w * mean for w, (mean, _, _) in zip(chances[u], parts, strict=True))
        np.testing.assert_allclose(means[u], mixed, atol=1e-8)


def test_the_stranger_has_exchangeable_arms() -> None:
    prior = random_prior(2, 4, seed=3)
    c = prior.components(stranger=0.3)
    counts, sums = random_rewards(1, 4, seed=4)
    room = make_posterior(1, 2, 4)
    condition(counts[0].astype(np.int64), sums[0], prior.sigma, c, room)
    from scipy.stats import multivariate_normal

    seen = counts[0] > 0
    noise = np.diag(prior.sigma**2 / np.maximum(counts[0], 1))
    total = (c.own * np.eye(4) + c.common + noise)[np.ix_(seen, seen)]
    y = sums[0, seen] / counts[0, seen]
    log = multivariate_normal.logpdf(y, np.full(seen.sum(), c.level), total)
    constant = 0.5 * np.log(room.weight[seen] / (2 * np.pi)).sum()
    assert room.log[-1] + constant == pytest.approx(np.log(0.3) + log, abs=1e-8)


def test_a_million_plays_lose_no_precision() -> None:
    prior = random_prior(2, 4, seed=5)
    counts = np.array([[10**6, 0, 10**6, 3]])
    sums = counts * np.array([[1.0, 0.0, 2.0, 3.0]])
    mean, cov, _ = posterior(prior, 0, counts[0], sums[0])
    room = make_posterior(1, 2, 4)
    condition(counts[0], sums[0], prior.sigma, prior.components(), room)
    settle(0, prior.components(), room)
    mine = room.cov[0] + room.scale_var[0] * np.outer(room.gain[0], room.gain[0])
    np.testing.assert_allclose(room.mean[0], mean, atol=1e-6)
    np.testing.assert_allclose(mine, cov, atol=1e-6)
