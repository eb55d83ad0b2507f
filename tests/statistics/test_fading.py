"""Fading: weights that halve, whatever the order of arrival, the shard or the landmark."""

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
from lobandits.statistics import FadingState
from lobandits.statistics.fading import doubts, faded

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


def check_alike(state: Any, rewards: Rewards, now: float) -> None:
    """Compare with the plain twin, to 1e-12 of what all rewards weigh."""
    weights, sums, squares = plain(rewards, now)
    size = max(1.0, *(abs(reward) for _, _, reward, _ in rewards)) if rewards else 1.0
    whole = max(weights.max(), 1e-100)
    seen = faded(state.faded, np.full(2, now / HALF_LIFE))
    np.testing.assert_allclose(seen[0], weights, rtol=1e-12, atol=1e-12 * whole)
    np.testing.assert_allclose(seen[1], sums, rtol=1e-12, atol=1e-12 * whole * size)
    kept = state.squares * 2.0 ** (2 * (64.0 * state.epochs - now / HALF_LIFE))
    np.testing.assert_allclose(kept, squares, rtol=1e-12, atol=1e-12 * whole**2)


@given(rewards=REWARDS, seed=st.integers(0, 99))
def test_any_order_of_arrival_is_the_plain_sum(rewards: Rewards, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rewards)).tolist()
    for some in (rewards, [rewards[i] for i in order]):
        state = recorded(some)
        check_alike(state, rewards, 2000.0)
        assert state.plays.sum() == len(rewards)


@given(rewards=REWARDS)
def test_one_reward_at_a_time_is_the_same(rewards: Rewards) -> None:
    state: Any = POLICY.start(2)
    for user, arm, reward, time in rewards:
        POLICY.record(state, [arm], [reward], [user], [time])
    check_alike(state, rewards, 2000.0)
    for user in range(2):
        times = [time for u, _, _, time in rewards if u == user]
        assert state.clocks[user] == pytest.approx(max(times, default=0.0) / HALF_LIFE)


@given(rewards=REWARDS, cut=st.integers(0, 30))
def test_merged_shards_are_the_whole(rewards: Rewards, cut: int) -> None:
    merged = recorded(rewards[:cut]).merge(recorded(rewards[cut:]))
    check_alike(merged, rewards, 2000.0)
    assert merged.plays.sum() == len(rewards)
    np.testing.assert_allclose(merged.clocks, recorded(rewards).clocks)


def test_a_reward_counts_half_after_a_half_life_of_plays() -> None:
    policy = UCB(2, 1.0, half_life=3, forget="always")
    state = policy.start()
    policy.record(state, [0, 1, 1, 1], [8.0, 1.0, 1.0, 1.0], users=0)
    seen = policy.seen(state)
    assert seen.counts[0, 0] == pytest.approx(0.5)
    assert seen.sums[0, 0] == pytest.approx(4.0)
    assert seen.means[0].tolist() == pytest.approx([8.0, 1.0])
    assert state.plays.tolist() == [4]
    assert seen.counts.sum() == pytest.approx((1 - 0.5 ** (4 / 3)) / (1 - 0.5 ** (1 / 3)))


def test_users_of_a_batch_have_clocks_of_their_own() -> None:
    policy = UCB(2, 1.0, half_life=2, forget="always")
    batch, alone = policy.start(2), policy.start()
    policy.record(batch, [0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0], users=[0, 1, 0, 1, 1])
    policy.record(alone, [1, 1, 1], [2.0, 4.0, 5.0], users=0)
    assert policy.seen(batch).sums[1].tolist() == policy.seen(alone).sums[0].tolist()


def test_by_default_nothing_fades_and_nothing_is_new() -> None:
    policy = UCB(3, 1.0)
    state = policy.start(2)
    assert type(state) is State
    assert set(state.to_dict()) == {"counts", "sums", "carries"}
    assert policy.seen(state) is state
    assert "half_life" not in policy.to_dict()
    assert repr(policy) == "UCB(n_arms=3, sigma=1.0)"
    with pytest.raises(LobInputError, match="give the policy a half_life"):
        policy.record(state, [0], [1.0], users=0, times=[3.0])


def test_a_very_long_half_life_decides_as_none() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 2, 0]])
    never, late = lob.LobTS(orders, 1.0), lob.LobTS(orders, 1.0, half_life=1e12)
    states = never.start(8), late.start(8)
    for seed in range(40):
        arms = never.choose(states[0], seed)
        assert late.choose(states[1], seed).tolist() == arms.tolist()
        rewards = rng.normal(size=8) - arms
        never.record(states[0], arms, rewards)
        late.record(states[1], arms, rewards)


def test_an_agent_whose_rewards_fade_comes_back_from_its_file(tmp_path: Path) -> None:
    agent = lob.Agent(POLICY, seed=0)
    for reward in range(9):
        agent.record(agent.choose(), reward)
    agent.save(tmp_path / "agent.json")
    back = lob.Agent.load(tmp_path / "agent.json")
    assert back.policy == POLICY
    assert [back.choose() for _ in range(9)] == [agent.choose() for _ in range(9)]
    again = pickle.loads(pickle.dumps(back.state))
    assert again.weights.tobytes() == back.state.arrays()["weights"].tobytes()


def test_what_is_long_past_counts_for_nothing() -> None:
    state = POLICY.start()
    POLICY.record(state, [0], [1e40], users=0, times=[0.0])
    POLICY.record(state, [1], [1.0], users=0, times=[1e5])
    for _ in range(2):
        assert POLICY.seen(state).counts[0].tolist() == [0.0, 1.0, 0.0]
        assert POLICY.seen(state).sums[0].tolist() == [0.0, 1.0, 0.0]
        POLICY.record(state, [2], [1.0], users=0, times=[0.0])
    assert state.plays.tolist() == [4]
    POLICY.restore(state.to_dict())


def test_refusals() -> None:
    with pytest.raises(LobInputError, match="half-lives are"):
        POLICY.start().merge(UCB(3, 1.0, half_life=8).start())
    with pytest.raises(LobInputError, match="needs a FadingState"):
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
FADING = [name for name in lob.POLICIES if name != "mucb"]


@pytest.mark.parametrize("name", FADING)
@pytest.mark.parametrize("forget", ["on_change", "always"])
def test_an_agent_remembers_as_a_state_does(name: str, forget: str) -> None:
    """Of a user who changes, and changes back."""
    policy = lob.make_policy(name, KNOWN, half_life=6, forget=forget)
    agent, state, rng = lob.Agent(policy, seed=3), policy.start(), np.random.default_rng(0)
    changed = set()
    for t in range(90):
        arm = int(rng.integers(3))
        reward = (3.0 - t // 30 % 2 * 3.0) * (arm == 0) + rng.normal()
        agent.record(arm, reward)
        policy.record(state, [arm], [reward])
        assert isinstance(state, FadingState)
        changed.add(bool(state.changed(policy.change_limit)[0]))
        for key, value in state.to_dict().items():
            np.testing.assert_array_equal(agent.state.to_dict()[key], value, err_msg=key)
    assert changed >= {True}
    assert changed == {True} or forget == "on_change"


@pytest.mark.plain
@pytest.mark.parametrize("name", list(lob.POLICIES))
def test_what_is_no_half_life_is_refused_at_once(name: str) -> None:
    for wrong in (0, -1, float("inf"), "day"):
        with pytest.raises(LobInputError, match="half_life"):
            lob.make_policy(name, KNOWN, horizon=9, half_life=wrong)
    with pytest.raises(LobInputError, match="forget 'seldom'"):
        lob.make_policy(name, KNOWN, horizon=9, forget="seldom")


@pytest.mark.plain
def test_what_a_policy_remembers_beyond_sums_does_not_fade() -> None:
    with pytest.raises(LobInputError, match="mucb remembers more of rewards than counts and sums"):
        lob.make_policy("mucb", KNOWN, horizon=9, half_life=5)


@pytest.mark.plain
@pytest.mark.parametrize("name", FADING)
def test_rewards_fade_for_every_policy(name: str) -> None:
    policy = lob.make_policy(name, KNOWN, half_life=5, forget="always")
    state, rng = policy.start(2), np.random.default_rng(0)
    for _ in range(8):
        arms = policy.choose(state, rng)
        policy.record(state, arms, arms + rng.normal(size=2))
    weight = (1 - 0.5 ** (8 / 5)) / (1 - 0.5 ** (1 / 5))
    np.testing.assert_allclose(policy.seen(state).counts.sum(axis=1), weight)
    chances = policy.probabilities(state)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    again = policy.restore(state.to_dict())
    np.testing.assert_allclose(policy.probabilities(again), chances, atol=1e-9)
    assert lob.policies.policy_from_dict(policy.to_dict()) == policy
    assert policy.explain(state).title.endswith("8 plays")


# Fading on a change ------------------------------------------------------------------------------

WARY = UCB(3, 1.0, half_life=HALF_LIFE)


def plain_doubts(rewards: Rewards) -> Any:
    """Return the squared difference of means over its variance, from the rewards themselves."""
    expected = np.zeros((2, 3))
    for cell in {(user, arm) for user, arm, _, _ in rewards}:
        mine = [(r, t) for user, arm, r, t in rewards if (user, arm) == cell]
        values, times = np.array(mine).T
        g = 2.0 ** ((times - times.max()) / HALF_LIFE)
        variance = (g @ g) / g.sum() ** 2 - 1 / len(g)
        gap = abs(g @ values / g.sum() - values.mean())
        if variance * len(g) > 1e-9 and gap > 1e-12 * np.abs(values).max():
            expected[cell] = gap**2 / variance
    return expected


@given(rewards=REWARDS, cut=st.integers(0, 30), seed=st.integers(0, 99))
def test_what_is_read_depends_on_the_rewards_alone(rewards: Rewards, cut: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rewards)).tolist()
    parts: list[Any] = [WARY.start(2), WARY.start(2)]
    for part, some in zip(parts, (order[:cut], order[cut:]), strict=True):
        for i in some:
            user, arm, reward, when = rewards[i]
            WARY.record(part, [arm], [reward], [user], [when])
    merged = parts[0].merge(parts[1])
    expected = plain_doubts(rewards)
    actual = doubts(merged.counts, merged.sums, merged.faded)
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-9)
    changed = merged.changed(WARY.change_limit)
    if (abs(expected - 16.0) > 1e-3).all():
        assert changed.tolist() == (expected.max(axis=1) > 16.0).tolist()
    back, seen = WARY.restore(merged.to_dict()), WARY.seen(merged)
    np.testing.assert_array_equal(WARY.seen(back).counts, seen.counts)
    for user in np.flatnonzero(~changed):
        assert seen.counts[user].tolist() == merged.counts[user].tolist()


def test_the_difference_of_the_means_has_the_variance_that_is_said() -> None:
    rng = np.random.default_rng(0)
    policy = UCB(1, 1.0, half_life=5)
    state: Any = policy.start(4000)
    for _ in range(25):
        policy.record(state, np.zeros(4000, int), 3.0 + rng.normal(size=4000))
    # Squares of standard normals: mean 1 and variance 2.
    mean = doubts(state.counts, state.sums, state.faded).mean()
    assert mean == pytest.approx(1.0, abs=4 * np.sqrt(2 / 4000))
    assert state.changed(policy.change_limit).mean() < 0.002


@pytest.mark.parametrize("name", ["ucb", "ts", "lobucb", "lobts", "lobimed", "lobids", "lobbayes"])
def test_as_long_as_nobody_changes_nothing_fades(name: str) -> None:
    never: Any = lob.make_policy(name, KNOWN)
    wary: Any = lob.make_policy(name, KNOWN, half_life=10)
    states, rng = (never.start(4), wary.start(4)), np.random.default_rng(0)
    for seed in range(30):
        arms = never.choose(states[0], seed)
        assert wary.choose(states[1], seed).tolist() == arms.tolist()
        rewards = 0.5 * rng.normal(size=4) - arms
        never.record(states[0], arms, rewards)
        wary.record(states[1], arms, rewards)
    assert not states[1].changed(wary.change_limit).any()
    assert wary.seen(states[1]).counts.tolist() == states[0].counts.tolist()
    assert wary.seen(states[1]).sums.tobytes() == states[0].sums.tobytes()


@pytest.mark.parametrize("name", ["ucb", "lobucb", "lobts", "lobimed", "lobids"])
def test_a_user_who_changes_is_seen_as_recent_rewards_say(name: str) -> None:
    rng = np.random.default_rng(1)
    policy = lob.make_policy(name, KNOWN, half_life=6)
    state: Any = policy.start(3)
    seen = set()
    for t in range(120):
        arms = policy.choose(state, rng)
        means = np.array([2.0, 1.0, 0.0]) if 40 <= t < 52 else np.array([0.0, 1.0, 2.0])
        policy.record(state, arms, means[arms] + 0.5 * rng.normal(size=3))
        seen |= set(state.changed(policy.change_limit).tolist())
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("name", "wrong", "why"),
    [
        ("weights", -1.0, "weights and squares must not be negative"),
        ("squares", -1.0, "weights and squares must not be negative"),
        ("sums", 2.0, "must be 0 where counts is 0"),
        ("weights", 2.0, "must be 0 where counts is 0"),
        ("counts", 1.5, "must be whole numbers"),
        ("counts", -1, "counts must not be negative"),
        ("half_lives", 0.0, "half_lives must be positive"),
    ],
)
def test_a_state_of_other_sums_is_refused(name: str, wrong: float, why: str) -> None:
    data = WARY.start().to_dict()
    data[name] = np.full(data[name].shape, wrong)
    with pytest.raises(LobInputError, match=why):
        WARY.restore(data)
