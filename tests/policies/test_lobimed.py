import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_lob import LobIMEDTwin

from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import LobIMED
from lobandits.projection import projection_losses

MEANS = np.random.default_rng(5).normal(size=(3, 5))
DAGS = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4), (3, 4)]]
)
TREES = LatentOrders.from_relations(5, [[(0, 1), (0, 2), (3, 4)], [(4, 2), (2, 1), (2, 0)]])


@pytest.mark.parametrize("q", [0.0, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("n_states", [1, 4])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 1e6])
def test_agrees_with_the_listing(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(5, n_states, sigma, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [LobIMEDTwin(user, sigma) for user in orders]
    assert_same_game(LobIMED(orders, sigma), twins, gaussian(MEANS, sigma), rounds=60)


@pytest.mark.parametrize("orders", [DAGS, TREES], ids=["dags", "trees"])
def test_agrees_with_the_listing_on_dags_and_trees(orders: LatentOrders) -> None:
    twins = [LobIMEDTwin(orders, 0.7) for _ in range(3)]
    assert_same_game(LobIMED(orders, 0.7), twins, gaussian(MEANS, 0.7), rounds=60)


def test_agrees_with_the_listing_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobIMED(DAGS, 1.0), [LobIMEDTwin(DAGS, 1.0)], constant, rounds=30)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobIMED(one, 1.0), [LobIMEDTwin(one, 1.0)], constant, rounds=5)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32),
    st.sampled_from([0.3, 0.8, 1.0]),
    st.sampled_from([0.05, 1.0, 30.0]),
    st.sampled_from([0.0, 1e5]),
)
def test_bounds_change_no_choice(seed: int, q: float, sigma: float, shift: float) -> None:
    """Many states, plays in bunches and out of turn: as if everything were projected."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(25, 10))
    policy = LobIMED(LatentOrders.from_means(means).reveal(q, rng), sigma)
    state = policy.start(4)
    for _ in range(40):
        n = int(rng.integers(1, 6))
        users, arms = rng.integers(4, size=n), rng.integers(10, size=n)
        arms[0] = policy.choose(state, rng)[users[0]]
        rewards = shift + means[users, arms] + sigma * rng.normal(size=n)
        policy.record(state, arms, rewards, users=users)
        counts = state.counts.astype(float)
        averages = np.divide(state.sums, counts, out=np.zeros_like(counts), where=counts > 0)
        losses = projection_losses(averages, counts, policy.orders).min(axis=1)
        divergence = (losses - losses.min(axis=1, keepdims=True)) / (2 * sigma**2)
        index = divergence + np.log(counts, out=np.full_like(counts, -1.0), where=counts > 0)
        lead = index - index.min(axis=1, keepdims=True)
        odds = policy.probabilities(state)
        assert (lead[odds > 0] < 1e-5).all()
        assert (odds[lead == 0] > 0).all()


@pytest.mark.plain
def test_the_arm_tried_least_wins_among_the_likely() -> None:
    policy = LobIMED(LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]]), sigma=1.0)
    state = policy.start()
    assert policy.probabilities(state).tolist() == [[0.5, 0.5, 0.0]]
    policy.record(state, [0], [1.0])
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]
    policy.record(state, [1], [9.0])
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]


@pytest.mark.plain
def test_explains_losses_and_indices() -> None:
    policy = LobIMED(LatentOrders.from_rankings([[0, 1], [1, 0]]), sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1], [0.0, 2.0], users=[0, 0])
    explained = policy.explain(state)
    assert [row["loss"] for row in explained.arms] == [2.0, 0.0]
    assert [row["D"] for row in explained.arms] == [1.0, 0.0]
    assert [row["index"] for row in explained.arms] == [1.0, 0.0]
    assert [row["log-likelihood"] for row in explained.states] == [-1.0, 0.0]
