from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_lob import LobTSTwin

import lobandits.beliefs.loss_bounds as module
from lobandits.basics.checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import LobTS
from lobandits.projection import projection_losses
from lobandits.statistics import State

MEANS = np.random.default_rng(5).normal(size=(3, 5))
DAGS = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4), (3, 4)]]
)
TREES = LatentOrders.from_relations(5, [[(0, 1), (0, 2), (3, 4)], [(4, 2), (2, 1), (2, 0)]])


@pytest.mark.parametrize("q", [0.0, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("n_states", [1, 4])
@pytest.mark.parametrize("sigma", [1e-6, 0.5, 1e6])
def test_agrees_with_the_listing(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(5, n_states, sigma, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [LobTSTwin(user, sigma) for user in orders]
    assert_same_game(LobTS(orders, sigma), twins, gaussian(MEANS, sigma), rounds=60)


@pytest.mark.parametrize("orders", [DAGS, TREES], ids=["dags", "trees"])
@pytest.mark.parametrize("every", [1, 7])
def test_agrees_with_the_listing_on_dags_and_trees(orders: LatentOrders, every: int) -> None:
    twins = [LobTSTwin(orders, 0.7, every) for _ in range(3)]
    policy = LobTS(orders, 0.7, project_every=every)
    assert_same_game(policy, twins, gaussian(MEANS, 0.7), rounds=60)


def test_agrees_with_the_listing_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobTS(DAGS, 1.0), [LobTSTwin(DAGS, 1.0)], constant, rounds=30)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobTS(one, 1.0), [LobTSTwin(one, 1.0)], constant, rounds=5)


def full_odds(policy: LobTS, state: State) -> FloatArray:
    """Every state projected anew: the definition, without bounds."""
    counts = state.counts.astype(float)
    means = np.divide(state.sums, counts, out=np.zeros_like(counts), where=counts > 0)
    logs = -projection_losses(means, counts, policy.orders).min(axis=1) / (2 * policy.sigma**2)
    logs -= logs.max(axis=1, keepdims=True)
    weights = np.where(logs >= np.log(1e-12), np.exp(logs), 0.0)
    odds: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return odds


@settings(max_examples=60)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.sampled_from([0.05, 1.0, 30.0]),
    st.sampled_from([0.0, 1e5]),
)
def test_bounds_change_no_probability(seed: int, q: float, sigma: float, shift: float) -> None:
    """Many states, plays in bunches and out of turn: as if everything were projected."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(25, 10))
    orders = LatentOrders.from_means(means).reveal(q, rng)
    policy = LobTS(orders, sigma)
    state = policy.start(4)
    for _ in range(60):
        n = int(rng.integers(1, 6))
        users, arms = rng.integers(4, size=n), rng.integers(10, size=n)
        arms[0] = policy.choose(state, rng)[users[0]]
        rewards = shift + means[users, arms] + sigma * rng.normal(size=n)
        policy.record(state, arms, rewards, users=users)
        odds = policy.odds(state, policy.all_arms)
        chances = odds / odds.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(chances, full_odds(policy, state), rtol=1e-6, atol=1e-11)


def test_rewards_that_were_replaced_start_the_bounds_again() -> None:
    policy = LobTS(LatentOrders.from_means(np.random.default_rng(0).normal(size=(20, 9))), 1.0)
    state = policy.start(2)
    rng = np.random.default_rng(1)
    for _ in range(50):
        arms = policy.choose(state, rng)
        policy.record(state, arms, rng.normal(size=2))
    state.sums[0] *= -1
    odds = policy.odds(state, policy.all_arms)
    chances = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(chances, full_odds(policy, state), rtol=1e-9)


def test_without_room_for_bounds_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = LatentOrders.from_means(np.random.default_rng(0).normal(size=(12, 5)))
    policy = LobTS(orders, 1.0)

    def play() -> list[list[int]]:
        state = policy.start(3)
        rng = np.random.default_rng(2)
        rounds = []
        for _ in range(80):
            arms = policy.choose(state, rng)
            policy.record(state, arms, MEANS[range(3), arms] + rng.normal(size=3))
            rounds.append(arms.tolist())
        return rounds

    bounded = play()
    monkeypatch.setattr(module, "LARGEST", 0)
    assert play() == bounded
    with ThreadPoolExecutor(2) as pool:  # each with a state of its own
        assert [*pool.map(lambda _: play(), range(8))] == [bounded] * 8


@pytest.mark.plain
def test_an_arm_on_top_of_no_state_is_never_played() -> None:
    policy = LobTS(LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]]), sigma=1.0)
    state = policy.start()
    assert policy.probabilities(state).tolist() == [[0.5, 0.5, 0.0]]
    policy.record(state, [2, 2], [50.0, 60.0], users=[0, 0])
    assert policy.probabilities(state).tolist() == [[0.5, 0.5, 0.0]]


@pytest.mark.plain
def test_explains_losses_and_likelihoods() -> None:
    policy = LobTS(LatentOrders.from_rankings([[0, 1], [1, 0]]), sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1], [0.0, 2.0], users=[0, 0])
    explained = policy.explain(state)
    assert [row["loss"] for row in explained.arms] == [2.0, 0.0]
    assert [row["log-likelihood"] for row in explained.states] == [-1.0, 0.0]


@pytest.mark.parametrize("every", [0, -1, 1.5, True])
def test_bad_project_every_is_named(every: int) -> None:
    with pytest.raises(LobInputError, match="project_every must be a whole number"):
        LobTS(DAGS, 1.0, project_every=every)


@pytest.mark.parametrize(("before", "after"), [(20, 20), (40, 30), (3, 40)])
def test_bounds_are_of_no_other_orders(before: int, after: int) -> None:
    """New orders for old users, as after learning them again: as if they had always been there."""
    rng = np.random.default_rng(0)
    old, new = (
        LobTS(LatentOrders.from_means(rng.normal(size=(m, 9))), 1.0) for m in (before, after)
    )
    state = old.start(5)
    for _ in range(40):
        arms = old.choose(state, rng)
        old.record(state, arms, rng.normal(size=5))
    old.choose(state, rng)
    fresh = new.start(5)
    fresh.counts[:], fresh.sums[:] = state.counts, state.sums
    noise = rng.random(5)
    for _ in range(3):
        arms = new.decide(state, noise, new.all_arms)
        assert arms.tolist() == new.decide(fresh.copy(), noise, new.all_arms).tolist()
    np.testing.assert_allclose(new.probabilities(state), new.probabilities(fresh), rtol=1e-9)


def test_threads_may_look_at_one_state() -> None:
    policy = LobTS(LatentOrders.from_means(np.random.default_rng(0).normal(size=(60, 9))), 1.0)
    state = policy.start(200)
    rng = np.random.default_rng(1)
    for _ in range(30):
        arms = policy.choose(state, rng)
        policy.record(state, arms, rng.normal(size=200))
    expected = policy.probabilities(state)
    with ThreadPoolExecutor(4) as pool:
        for odds in pool.map(policy.probabilities, [state] * 40):
            np.testing.assert_array_equal(odds, expected)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("weights", [[-1.0, 2.0, 0.0]], "weights must not be negative"),
        ("weights", [[0.0, 0.0, 0.0]], "some must be positive"),
        ("weights", [[1.0, 0.0, 0.5]], "weights must be 0 for arms on top of no state"),
        ("projected", [5], "projected must lie between -1 and the plays"),
        ("projected", [-2], "projected must lie between -1 and the plays"),
    ],
)
def test_a_damaged_memory_is_refused(name: str, value: object, words: str) -> None:
    policy = LobTS(LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]]), 1.0, project_every=2)
    state = policy.start()
    policy.record(state, policy.choose(state, 0), [1.0])
    policy.choose(state, 1)
    with pytest.raises(LobInputError, match=words):
        policy.restore({**state.to_dict(), name: value})  # type: ignore[dict-item]
