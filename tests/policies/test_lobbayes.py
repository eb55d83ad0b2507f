"""LobBayes: against its twin and random draws, its parameters, its words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.beliefs.cases import random_prior
from tests.beliefs.reference import components_of, mixture
from tests.policies.cases import assert_same_game, constant, gaussian
from tests.policies.reference_prior import LobBayesTwin

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Bernoulli, Gaussian, Likelihood, Poisson, Prior
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import LobBayes, MixTS, Policy, Popular, State
from lobandits.policies.lobbayes import user_loadings

KINDS: list[Likelihood] = [Gaussian(0.7), Bernoulli(), Poisson()]
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
policies = pytest.mark.parametrize("policy_type", [LobBayes, MixTS, Popular])
MEANS = np.random.default_rng(5).normal(size=(3, 5))


def played(policy: Policy, n: int, rounds: int, seed: int) -> State:
    """Rewards of 0 and 1, which all likelihoods take."""
    rng = np.random.default_rng(seed)
    state: State = policy.start(n)
    for _ in range(rounds):
        arms = rng.integers(policy.n_arms, size=n)
        policy.record(state, arms, (rng.random(n) < 0.4).astype(float))
    return state


@pytest.mark.parametrize("trust", [0.0, 0.5, 0.999])
@pytest.mark.parametrize("factors", [(1.0,), (0.5, 2.0)])
def test_agrees_with_its_twin(trust: float, factors: tuple[float, ...]) -> None:
    prior = random_prior(3, 5, seed=1, factors=factors, level=0.0)
    twins = [LobBayesTwin(prior, trust) for _ in range(3)]
    assert_same_game(LobBayes(prior, trust), twins, gaussian(MEANS, 0.7), rounds=15)


@pytest.mark.parametrize("kind", KINDS[1:], ids=lambda kind: kind.name)
def test_agrees_with_its_twin_on_clicks_and_counts(kind: Likelihood) -> None:
    prior = random_prior(2, 5, seed=2, likelihood=kind, level=-1.0)
    twins = [LobBayesTwin(prior) for _ in range(3)]

    def click(user: int, arm: int, rng: np.random.Generator) -> float:
        return float(rng.random() < 0.2 + 0.1 * arm)

    assert_same_game(LobBayes(prior), twins, click, rounds=15)


def test_agrees_with_its_twin_on_orders_and_on_equal_arms() -> None:
    orders = LatentOrders.from_relations(4, [[(0, 1), (1, 2)], [(3, 0), (2, 1)]])
    prior = Prior.from_orders(orders, 0.7)
    assert_same_game(LobBayes(prior), [LobBayesTwin(prior, 0.999)], gaussian(MEANS, 0.7), 15)
    assert_same_game(LobBayes(prior), [LobBayesTwin(prior, 0.999)], constant, 8)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), rounds=st.integers(0, 12))
def test_free_states_weigh_as_under_the_prior(seed: int, rounds: int) -> None:
    for kind in KINDS:
        prior = random_prior(3, 4, seed, likelihood=kind, level=-0.5)
        policy = LobBayes(prior, trust=0.0)
        state = played(policy, 2, rounds, seed)
        wanted = prior.posterior(state.counts, state.sums)[0]
        np.testing.assert_allclose(policy.state_posterior(state), wanted, atol=1e-9)
        np.testing.assert_allclose(MixTS(prior).state_posterior(state), wanted, atol=1e-9)


def draws(prior: Prior, state: State, n: int) -> FloatArray:
    """Random tastes of the first user."""
    rng = np.random.default_rng(0)
    shares, _, means, covariances = mixture(
        components_of(prior), prior.likelihood, state.counts[0].astype(float), state.sums[0]
    )
    return np.concatenate(
        [
            rng.multivariate_normal(mean, cov, round(n * share))
            for share, mean, cov in zip(shares, means, covariances, strict=True)
        ]
    )


@kinds
def test_moments_are_those_of_random_draws(kind: Likelihood) -> None:
    """With many points, regret and information agree with plain Monte Carlo."""
    prior = random_prior(2, 4, seed=3, likelihood=kind, level=-0.5)
    policy = LobBayes(prior, trust=0.0, n_points=512)
    state = played(policy, 1, 6, seed=4)
    eta = draws(prior, state, 200_000)
    x, top = kind.mean(eta), eta.argmax(axis=1)
    regret = (x.max(axis=1)[:, None] - x).mean(axis=0)
    between = np.zeros(4)
    for b in range(4):
        if (top == b).any():
            between += (top == b).mean() * (x[top == b].mean(0) - x.mean(0)) ** 2
    rows = policy.explain(state).arms
    # points lack what moves all arms alike, which bends a little where g is no straight line
    near = 0.05 if kind.exact else 0.15
    found = np.array([row["regret"] for row in rows])
    np.testing.assert_allclose(found, regret, atol=near * regret.max())
    if kind.exact:
        information = np.array([row["information"] for row in rows])
        level = np.array([row["posterior mean"] for row in rows])
        assert (information <= between / kind.noise(level) * 1.1 + 0.02).all()


@policies
@kinds
def test_policies_are_functions_of_the_state(
    policy_type: type[LobBayes | MixTS | Popular], kind: Likelihood
) -> None:
    prior = random_prior(3, 5, seed=5, likelihood=kind, level=-0.5)
    policy = policy_type(prior)
    state = played(policy, 6, 7, seed=6)
    chances = policy.probabilities(state)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances, policy.probabilities(state))
    for u in range(6):
        np.testing.assert_array_equal(policy.probabilities(state.take([u]))[0], chances[u])
    assert policy_type.from_dict(policy.to_dict()) == policy


@policies
def test_only_allowed_arms_are_played(policy_type: type[LobBayes | MixTS | Popular]) -> None:
    policy = policy_type(random_prior(3, 5, seed=7))
    state = played(policy, 20, 5, seed=8)
    allowed = np.random.default_rng(9).random((20, 5)) < 0.4
    allowed[:, 2] |= ~allowed.any(axis=1)
    chances = policy.probabilities(state, allowed)
    assert (chances[~allowed] == 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)


@policies
def test_whatever_has_a_prior_is_taken(policy_type: type[LobBayes | MixTS | Popular]) -> None:
    class Model:
        prior = random_prior(2, 3, seed=10)

    policy = policy_type(Model())
    assert policy == policy_type(Model.prior)
    assert policy.prior is Model.prior
    assert policy.arms == Model.prior.arms
    assert policy.sigma == pytest.approx(0.7)
    with pytest.raises(LobInputError, match=r"a Prior or a Model is needed.*got ndarray"):
        policy_type(np.eye(2))  # type: ignore[arg-type]


def test_users_in_blocks_are_users_together(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, policy_type in (("lobbayes", LobBayes), ("mixts", MixTS)):
        policy = policy_type(random_prior(2, 4, seed=11))
        state = played(policy, 7, 5, seed=12)
        allowed = np.random.default_rng(13).random((7, 4)) < 0.5
        allowed[:, 1] = True
        wanted = [policy.probabilities(state, some) for some in (None, allowed)]
        monkeypatch.setattr(f"lobandits.policies.{module}.BLOCK", 1)
        for some, chances in zip((None, allowed), wanted, strict=True):
            np.testing.assert_array_equal(policy.probabilities(state, some), chances)


def test_trust_is_in_known_orders() -> None:
    prior = random_prior(2, 3, seed=14)
    assert LobBayes(prior).trust == 0.0
    known = Prior.from_orders(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]]))
    assert LobBayes(known).trust == 0.999
    assert LobBayes(known, trust=0.2).trust == 0.2


def test_with_full_trust_the_top_of_the_order_wins() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
    policy = LobBayes(Prior.from_orders(orders), trust=1.0)
    state = policy.start()
    policy.record(state, [0, 0, 2, 2], [5.0, 6.0, 0.0, 1.0], users=[0] * 4)
    assert policy.probabilities(state)[0].tolist() == [1.0, 0.0, 0.0]
    assert policy.state_posterior(state)[0, 0] > 0.99


def test_information_is_worth_more_where_orders_are_trusted() -> None:
    """With the same points, a lower exponent spends more regret on looking around."""
    prior = random_prior(2, 4, seed=15)
    twin = [LobBayesTwin(prior, trust).power() for trust in (0.0, 0.5, 0.75, 1.0)]
    np.testing.assert_allclose(twin, [6.0, 6.0, 3.7, 1.4])


def test_explore_mixes_in_the_uniform_distribution() -> None:
    prior = random_prior(2, 4, seed=16)
    plain, mixed = LobBayes(prior), LobBayes(prior, explore=0.2)
    state = played(plain, 3, 4, seed=17)
    np.testing.assert_allclose(mixed.probabilities(state), 0.8 * plain.probabilities(state) + 0.05)
    half = np.array([[True, True, False, False]] * 3)
    wanted = 0.8 * plain.probabilities(state, half) + 0.1 * half
    np.testing.assert_allclose(mixed.probabilities(state, half), wanted)


def test_a_click_more_or_less_does_not_scare_it_off() -> None:
    """At rare clicks the population's best arm is left for good reasons only."""
    means = np.array([[-3.5, -4.0, -4.5]])
    level, own = np.full((3, 1), 0.5), np.full(3, 0.1)
    prior = Prior(("a", "b", "c"), np.ones(1), means, level, own, np.zeros(1), Bernoulli())
    policy = LobBayes(prior)
    state = policy.start()
    policy.record(state, [0] * 10, [0.0] * 10, users=[0] * 10)
    assert policy.probabilities(state)[0, 0] > 0.5


def test_explains_states_loadings_and_what_the_prior_is_worth() -> None:
    policy = LobBayes(random_prior(2, 3, seed=18), trust=0.5)
    text = str(policy.explain(played(policy, 1, 5, seed=19)))
    for word in ("chance", "order holds", "regret", "information", "on top", "posterior mean"):
        assert word in text
    assert "Most likely state" in text
    assert "own level" in text
    assert "5 plays so far" in text
    alone = LobBayes(random_prior(1, 3, seed=18))
    assert "Most likely" not in str(alone.explain(alone.start()))


def test_a_loading_that_moves_the_user_is_named() -> None:
    loadings = np.array([[0.1, 2.0], [0.1, 0.0], [0.1, -2.0]])
    numbers = np.ones(1), np.zeros((1, 3)), loadings, np.full(3, 0.1), np.zeros(1)
    prior = Prior(("a", "b", "c"), *numbers, Gaussian(1.0))
    policy = LobBayes(prior)
    state = policy.start()
    policy.record(state, [0, 0, 2, 2], [-3.0, -3.0, 3.0, 3.0], users=[0] * 4)
    notes = str(policy.explain(state))
    assert "it lifts c, b, a" in notes
    centre, spread = user_loadings(prior, state, 0)
    q = np.eye(2) + sum(np.outer(x, x) / (0.1 + 0.5) for x in loadings[[0, 2]])
    np.testing.assert_allclose(spread, np.sqrt(np.diag(np.linalg.inv(q))))
    assert centre[1] < -1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trust": 1.5}, "trust"),
        ({"explore": -0.1}, "explore"),
        ({"n_points": 1}, "n_points"),
        ({"n_points": 2.5}, "n_points"),
    ],
)
def test_wrong_parameters_are_named(options: dict[str, float], words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        LobBayes(random_prior(2, 3, seed=20), **options)  # type: ignore[arg-type]
