"""Forgetting: weights that halve, whatever the order of arrival, the shard or the landmark."""

import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.policies import UCB, State

HALF_LIFE = 7.0
POLICY = UCB(3, 1.0, half_life=HALF_LIFE, forget="always")
Rewards = list[tuple[int, int, float, float]]  # user, arm, reward, time
REWARDS = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.integers(0, 2),
        st.floats(-100, 100),
        st.floats(-50, 2000).map(lambda t: round(t, 3)),
    ),
    max_size=30,
)


def recorded(rewards: Rewards) -> Any:
    state = POLICY.start(2)
    if rewards:
        users, arms, values, times = map(list, zip(*rewards, strict=True))
        POLICY.record(state, arms, values, users, times)
    return state


def plain(rewards: Rewards, now: float) -> tuple[Any, Any, Any]:
    """Return weights, weighted sums and squares of weights at ``now``, one reward at a time."""
    weights, sums, squares = np.zeros((3, 2, 3))
    for user, arm, reward, time in rewards:
        g = 2.0 ** (-(now - time) / HALF_LIFE)
        weights[user, arm] += g
        sums[user, arm] += g * reward
        squares[user, arm] += g * g
    return weights, sums, squares


def moved(state: Any, now: float) -> Any:
    there = state.copy()
    there.move(np.arange(2), np.full(2, now))
    return there


def check_alike(state: Any, rewards: Rewards, now: float) -> None:
    """Compare with the plain twin, to 1e-12 of what all rewards weigh."""
    there = moved(state, now)
    weights, sums, squares = plain(rewards, now)
    size = max(1.0, *(abs(reward) for _, _, reward, _ in rewards)) if rewards else 1.0
    whole = max(weights.max(), 1e-100)
    factor = 2.0 ** (64.0 * there.epochs - now / HALF_LIFE)
    np.testing.assert_allclose(there.counts, weights, rtol=1e-12, atol=1e-12 * whole)
    np.testing.assert_allclose(there.sums, sums, rtol=1e-12, atol=1e-12 * whole * size)
    kept = there.recent_squares * factor**2
    np.testing.assert_allclose(kept, squares, rtol=1e-12, atol=1e-12 * whole**2)


@given(rewards=REWARDS, seed=st.integers(0, 99))
def test_any_order_of_arrival_is_the_plain_sum(rewards: Rewards, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rewards)).tolist()
    for some in (rewards, [rewards[i] for i in order]):
        state = recorded(some)
        check_alike(state, rewards, 2000.0)
        assert state.plays.sum() == len(rewards)


@given(rewards=REWARDS, cut=st.integers(0, 30))
def test_merged_shards_are_the_whole(rewards: Rewards, cut: int) -> None:
    merged = recorded(rewards[:cut]).merge(recorded(rewards[cut:]))
    check_alike(merged, rewards, 2000.0)
    assert merged.plays.sum() == len(rewards)


@given(rewards=REWARDS, landmark=st.floats(-100, 2500))
def test_a_moved_landmark_changes_nothing(rewards: Rewards, landmark: float) -> None:
    check_alike(moved(recorded(rewards), landmark), rewards, 2000.0)


def test_a_reward_counts_half_after_a_half_life_of_plays() -> None:
    policy = UCB(2, 1.0, half_life=3, forget="always")
    state = policy.start()
    policy.record(state, [0, 1, 1, 1], [8.0, 1.0, 1.0, 1.0], users=0)
    assert state.counts[0, 0] == pytest.approx(0.5)
    assert state.sums[0, 0] == pytest.approx(4.0)
    assert state.means[0].tolist() == pytest.approx([8.0, 1.0])
    assert state.plays.tolist() == [4]
    assert state.counts.sum() == pytest.approx((1 - 0.5 ** (4 / 3)) / (1 - 0.5 ** (1 / 3)))


def test_the_effective_number_lies_between_the_weight_and_the_plays() -> None:
    state: Any = POLICY.start()
    POLICY.record(state, [0] * 50, [1.0] * 50, users=0)
    numbers, sums = state.effective
    assert state.counts[0, 0] < numbers[0, 0] < 50
    weight, squares = state.recent_counts[0, 0], state.recent_squares[0, 0]
    assert numbers[0, 0] == pytest.approx(weight**2 / squares)
    assert sums[0, 0] / numbers[0, 0] == pytest.approx(1.0)


def test_by_default_nothing_is_forgotten_and_nothing_is_new() -> None:
    policy = UCB(3, 1.0)
    state = policy.start(2)
    assert type(state) is State
    assert set(state.to_dict()) == {"counts", "sums", "carries"}
    assert state.effective[0] is state.counts
    assert "half_life" not in policy.to_dict()
    assert repr(policy) == "UCB(n_arms=3, sigma=1.0)"
    with pytest.raises(LobInputError, match="give the policy a half_life"):
        policy.record(state, [0], [1.0], users=0, times=[3.0])


def test_a_very_long_half_life_decides_as_none() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    never, late = lob.LobTS(orders, 1.0), lob.LobTS(orders, 1.0, half_life=1e12)
    states = never.start(8), late.start(8)
    for _ in range(40):
        noise = rng.random(8)
        arms = never.decide(states[0], noise, never.all_arms)
        assert late.decide(states[1], noise, late.all_arms).tolist() == arms.tolist()
        rewards = rng.normal(size=8) - arms
        never.record(states[0], arms, rewards)
        late.record(states[1], arms, rewards)


def test_bounds_that_fade_give_the_odds_of_a_fresh_start() -> None:
    """What lobTS keeps of its projections fades with the rewards, and still saves them."""
    rng = np.random.default_rng(1)
    orders = lob.LatentOrders.from_rankings([np.roll(range(5), s).tolist() for s in range(5)])
    policy = lob.LobTS(orders, 1.0, half_life=10, forget="always")
    state = policy.start(4)
    for _ in range(60):
        arms = policy.choose(state, rng)
        policy.record(state, arms, rng.normal(size=4) + arms)
        fresh = policy.restore(state.to_dict())
        np.testing.assert_allclose(
            policy.probabilities(state), policy.probabilities(fresh), atol=1e-9
        )


def test_an_agent_that_forgets_comes_back_from_its_file(tmp_path: Path) -> None:
    agent = lob.Agent(POLICY, seed=0)
    for reward in range(9):
        agent.record(agent.choose(), reward)
    agent.save(tmp_path / "agent.json")
    back = lob.Agent.load(tmp_path / "agent.json")
    assert back.policy == POLICY
    assert [back.choose() for _ in range(9)] == [agent.choose() for _ in range(9)]
    again = pickle.loads(pickle.dumps(back.state))
    assert again.counts.tobytes() == back.state.counts.tobytes()


def test_what_is_long_past_is_forgotten_for_good() -> None:
    state: Any = POLICY.start()
    POLICY.record(state, [0], [1e40], users=0, times=[0.0])
    POLICY.record(state, [1], [1.0], users=0, times=[1e5])
    assert state.counts[0].tolist() == [0.0, 1.0, 0.0]
    assert state.sums[0].tolist() == [0.0, 1.0, 0.0]
    POLICY.record(state, [2], [1.0], users=0, times=[0.0])
    assert state.counts[0].tolist() == [0.0, 1.0, 0.0]
    assert state.plays.tolist() == [3]
    POLICY.restore(state.to_dict())


def test_refusals() -> None:
    for wrong in (0, -1, float("inf"), "day"):
        with pytest.raises(LobInputError, match="half_life"):
            UCB(2, 1.0, half_life=wrong).start()  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="half-lives are"):
        POLICY.start().merge(UCB(3, 1.0, half_life=8).start())
    with pytest.raises(LobInputError, match="needs a ForgettingState"):
        POLICY.choose(UCB(3, 1.0).start(), 0)
    with pytest.raises(LobInputError, match="times must have the shape"):
        POLICY.record(POLICY.start(), [0], [1.0], users=0, times=[1.0, 2.0])


ORDERS = lob.LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]])
KNOWN = SimpleNamespace(
    n_arms=3,
    sigma=1.0,
    orders=ORDERS,
    state_means=np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 2.0]]),
    prior=lob.Prior.from_orders(ORDERS),
)


@pytest.mark.plain
@pytest.mark.parametrize("name", list(lob.POLICIES))
def test_every_policy_can_forget(name: str) -> None:
    policy: Any = lob.make_policy(name, KNOWN, horizon=50, half_life=5, forget="always")
    state, rng = policy.start(2), np.random.default_rng(0)
    for _ in range(8):
        arms = policy.choose(state, rng)
        policy.record(state, arms, arms + rng.normal(size=2))
    weight = (1 - 0.5 ** (8 / 5)) / (1 - 0.5 ** (1 / 5))
    np.testing.assert_allclose(state.counts.sum(axis=1), weight)
    chances = policy.probabilities(state)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    again = policy.restore(state.to_dict())
    np.testing.assert_allclose(policy.probabilities(again), chances, atol=1e-9)
    assert lob.policies.policy_from_dict(policy.to_dict()) == policy
    assert policy.explain(state).title.endswith("8 plays")
