"""LobBayes, MixTS and Popular: against points drawn at random, and as policies."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_t, norm
from tests.policies.cases import random_prior as prior_of_arms

from lobandits._checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import LobBayes, MixTS, Policy, Popular, State
from lobandits.policies.lobbayes import caution
from lobandits.policies.mixture_points import point_tables
from lobandits.priors import Prior
from lobandits.projection import project


def random_prior(m: int, k: int, seed: int) -> Prior:
    return prior_of_arms(m, [f"arm {a}" for a in range(k)], 0.8, seed)


def played(policy: Policy, n: int, rounds: int, seed: int) -> State:
    rng = np.random.default_rng(seed)
    state: State = policy.start(n)
    for _ in range(rounds):
        arms = rng.integers(policy.n_arms, size=n)
        policy.record(state, arms, rng.normal(2.0, 1.5, n))
    return state


def dense(
    prior: Prior, s: int, state: State, freedom: float = np.inf
) -> tuple[FloatArray, FloatArray, float]:
    """Posterior and log evidence of the first user under state s; Student's t, or a Gaussian."""
    counts, sums = state.counts[0], state.sums[0]
    d = prior.means[s] - prior.means[s].mean()
    c = prior.spread + prior.shift**2 + prior.scales[s] ** 2 * np.outer(d, d)
    seen = counts > 0
    if not seen.any():
        return prior.means[s], c, 0.0
    total = c[np.ix_(seen, seen)] + np.diag(prior.sigma**2 / counts[seen])
    gain = c[:, seen] @ np.linalg.inv(total)
    y = sums[seen] / counts[seen]
    log = float(np.squeeze(multivariate_t.logpdf(y, prior.means[s, seen], total, df=freedom)))
    return prior.means[s] + gain @ (y - prior.means[s, seen]), c - gain @ c[seen], log


def order_chance(ranking: list[int], mean: FloatArray, cov: FloatArray) -> float:
    upper, lower = ranking[:-1], ranking[1:]
    var = np.diag(cov)[upper] + np.diag(cov)[lower] - 2 * cov[upper, lower]
    return float(norm.logcdf((mean[upper] - mean[lower]) / np.sqrt(var)).sum())


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), rounds=st.integers(0, 12))
def test_versions_weigh_as_in_the_equations(seed: int, rounds: int) -> None:
    prior = random_prior(3, 5, seed)
    policy = LobBayes(prior, trust=0.6, stranger=0.0)
    state = played(policy, 1, rounds, seed)
    free, strict = np.empty(3), np.empty(3)
    for s in range(3):
        mean, cov, log = dense(prior, s, state, freedom=2.0)
        d = prior.means[s] - prior.means[s].mean()
        start = prior.spread + prior.shift**2 + prior.scales[s] ** 2 * np.outer(d, d)
        ranking = np.argsort(-prior.means[s]).tolist()
        gained = order_chance(ranking, mean, cov) - order_chance(ranking, prior.means[s], start)
        free[s] = np.log(0.4 * prior.shares[s]) + log
        strict[s] = np.log(0.6 * prior.shares[s]) + log + gained
    wanted = np.exp(np.concatenate([free, strict]) - np.logaddexp.reduce([*free, *strict]))
    np.testing.assert_allclose(policy._shares(state)[0, :-1], wanted, atol=2e-4)
    states = wanted.reshape(2, 3).sum(axis=0)
    np.testing.assert_allclose(policy.state_posterior(state)[0], states, atol=2e-4)


def test_moments_are_those_of_random_draws() -> None:
    """With many points, regret and information agree with plain Monte Carlo and project()."""
    prior = random_prior(2, 4, seed=3)
    policy = LobBayes(prior, trust=0.5, stranger=0.0, n_points=4096)
    state = played(policy, 1, 6, seed=4)
    rng = np.random.default_rng(0)
    shares = policy._shares(state)[0]
    draws, tops = [], []
    for j in range(4):
        mean, cov, _ = dense(prior, j % 2, state)
        some = rng.multivariate_normal(mean, cov, round(200_000 * shares[j]))
        if j >= 2:
            precision = np.linalg.inv(cov)
            common = 1.0 / precision.sum()
            some = project(some, 1.0 / (np.diag(cov) - common), prior.orders[j % 2])
            ranking = np.argsort(-prior.means[j % 2])
            tops.append(ranking[some[:, ranking].argmax(axis=1)])
        else:
            tops.append(some.argmax(axis=1))
        draws.append(some)
    x, top = np.concatenate(draws), np.concatenate(tops)
    regret = (x[np.arange(len(x)), top][:, None] - x).mean(axis=0)
    information = np.zeros(4)
    for b in range(4):
        if (top == b).any():
            information += (top == b).mean() * (x[top == b].mean(0) - x.mean(0)) ** 2
    arms = {row["arm"]: row for row in policy.explain(state).arms}
    got = [arms[name] for name in prior.arms]
    np.testing.assert_allclose([row["regret"] for row in got], regret, atol=0.05)
    np.testing.assert_allclose([row["information"] for row in got], information, atol=0.03)


@pytest.mark.parametrize("kind", [LobBayes, MixTS, Popular])
def test_policies_are_functions_of_the_state(kind: type[Policy]) -> None:
    prior = random_prior(3, 5, seed=5)
    policy = kind(prior)  # type: ignore[call-arg, arg-type]
    state = played(policy, 6, 7, seed=6)
    chances = policy.probabilities(state)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances, policy.probabilities(state))
    for u in range(6):
        np.testing.assert_array_equal(policy.probabilities(state.take([u]))[0], chances[u])
    assert kind.from_dict(policy.to_dict()) == policy
    picks = np.array([policy.choose(state, rng=s) for s in range(400)])
    shares = np.array([(picks == a).mean(axis=0) for a in range(5)]).T
    np.testing.assert_allclose(shares, chances, atol=0.11)


@pytest.mark.parametrize("kind", [LobBayes, MixTS, Popular])
def test_only_allowed_arms_are_played(kind: type[Policy]) -> None:
    prior = random_prior(3, 5, seed=7)
    policy = kind(prior)  # type: ignore[call-arg, arg-type]
    state = played(policy, 20, 5, seed=8)
    allowed = np.random.default_rng(9).random((20, 5)) < 0.4
    allowed[:, 2] |= ~allowed.any(axis=1)
    chances = policy.probabilities(state, allowed)
    assert (chances[~allowed] == 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


def test_popular_plays_the_best_of_the_population() -> None:
    prior = random_prior(2, 4, seed=10)
    best = int(np.argmax(prior.shares @ prior.means))
    policy = Popular(prior)
    assert policy.choose(policy.start(3), 0).tolist() == [best] * 3
    without = np.arange(4) != best
    assert best not in policy.choose(policy.start(3), 0, without)


def test_mixts_plays_arms_with_the_chance_that_they_are_best() -> None:
    prior = random_prior(2, 4, seed=11)
    policy = MixTS(prior, n_points=8192)
    state = played(policy, 1, 5, seed=12)
    rng = np.random.default_rng(0)
    chances, _, _ = prior.posterior(state.counts, state.sums)
    wanted = np.zeros(4)
    for s in range(2):
        mean, cov, _ = dense(prior, s, state)
        best = rng.multivariate_normal(mean, cov, 100_000).argmax(axis=1)
        wanted += chances[0, s] * np.bincount(best, minlength=4) / 100_000
    np.testing.assert_allclose(policy.probabilities(state)[0], wanted, atol=0.02)


def test_with_full_trust_the_top_of_the_order_wins() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    policy = LobBayes(Prior.from_orders(orders), trust=1.0)
    state = policy.start()
    policy.record(state, [0, 0, 2, 2], [5.0, 6.0, 0.0, 1.0], users=[0] * 4)
    assert policy.probabilities(state)[0].tolist() == [1.0, 0.0, 0.0]
    assert policy.state_posterior(state)[0, 0] > 0.99


def test_regret_weighs_most_while_the_prior_knows_more_than_the_plays() -> None:
    assert caution(np.zeros(3, np.int64), 1.0, 5.0) == 6.0
    assert caution(np.array([8, 12, 0]), 1.0, 5.0) == 4.0
    assert 2.0 < caution(np.array([10**6, 0, 0]), 1.0, 5.0) < 2.001
    prior = random_prior(2, 4, seed=13)
    own = np.diag(prior.population_covariance - prior.population_covariance.mean()).mean()
    assert LobBayes(prior, sigma=2.0)._worth == pytest.approx(4.0 / own)
    one_arm = LobBayes(Prior(("a",), np.ones(1), np.zeros((1, 1)), np.eye(1), 1, np.zeros(1), 1))
    assert caution(np.zeros(1, np.int64), 1.0, one_arm._worth) == 6


@pytest.mark.parametrize(("trust", "power"), [(0.0, 6.0), (0.5, 6.0), (0.75, 3.7), (1.0, 1.4)])
def test_who_trusts_the_orders_weighs_information_more(trust: float, power: float) -> None:
    policy = LobBayes(random_prior(2, 4, seed=13), trust=trust)
    doubt, worth, _ = policy._rule
    assert caution(np.zeros(4, np.int64), doubt, worth) == pytest.approx(power)


def test_a_user_whom_no_state_fits_is_given_to_none() -> None:
    """Ten standard deviations from both states, and one nearer to the first."""
    half, spread = np.full(2, 0.5), 0.1 * np.eye(2)
    prior = Prior(("a", "b"), half, np.eye(2), spread, 0.1, np.zeros(2), 0.3)
    policy = LobBayes(prior, trust=0.0, stranger=0.0)
    state = policy.start()
    policy.record(state, [0], [5.0])
    gaussian = prior.posterior(state.counts, state.sums)[0][0]
    heavy = policy.state_posterior(state)[0]
    assert gaussian[1] < 1e-6
    assert 0.2 < heavy[1] < heavy[0]


def test_explore_mixes_in_the_uniform_distribution() -> None:
    prior = random_prior(2, 4, seed=13)
    plain, mixed = LobBayes(prior), LobBayes(prior, explore=0.2)
    state = played(plain, 3, 4, seed=14)
    wanted = 0.8 * plain.probabilities(state) + 0.05
    np.testing.assert_allclose(mixed.probabilities(state), wanted)


def test_explains_states_and_the_users_own_scale() -> None:
    policy = LobBayes(random_prior(2, 3, seed=15))
    text = str(policy.explain(played(policy, 1, 5, seed=16)))
    for word in ("chance", "order holds", "regret", "information", "own scale", "like none"):
        assert word in text


def test_wrong_parameters_are_named() -> None:
    prior = random_prior(2, 3, seed=17)
    with pytest.raises(LobInputError, match="prior must be a Prior"):
        LobBayes(np.eye(2))  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="trust"):
        LobBayes(prior, trust=1.5)
    with pytest.raises(LobInputError, match="stranger is 1"):
        LobBayes(prior, stranger=1.0)


def test_points_have_normal_quantiles_in_every_coordinate() -> None:
    tables = point_tables(32, 5)
    assert tables.shape == (1024, 5, 32)
    assert tables.max() > norm.ppf(1 - 2e-5)
    assert point_tables(4096, 2).shape == (32, 2, 4096)
    strata = np.sort(np.floor(norm.cdf(tables) * 32), axis=2)
    np.testing.assert_array_equal(strata, np.broadcast_to(np.arange(32), tables.shape))
