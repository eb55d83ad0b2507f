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
from lobandits.policies.faded_reading import HALF_LIFE as HALF_LIFE_COLUMN
from lobandits.policies.faded_sums import COUNT, DOUBT, EPOCH, SQUARES, SUM, WEIGHT

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
    factor = 2.0 ** (64.0 * there.ledger[:, :, EPOCH] - now / HALF_LIFE)
    np.testing.assert_allclose(there.counts, weights, rtol=1e-12, atol=1e-12 * whole)
    np.testing.assert_allclose(there.sums, sums, rtol=1e-12, atol=1e-12 * whole * size)
    kept = there.ledger[:, :, SQUARES] * factor**2
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
    weight, squares = state.ledger[0, 0, [WEIGHT, SQUARES]]
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


@pytest.mark.parametrize("name", list(lob.POLICIES))
@pytest.mark.parametrize("forget", ["on_change", "always"])
def test_an_agent_remembers_as_a_state_does(name: str, forget: str) -> None:
    """Of a user who changes, and changes back."""
    policy = lob.make_policy(name, KNOWN, horizon=90, half_life=6, forget=forget)
    agent, state, rng = lob.Agent(policy, seed=3), policy.start(), np.random.default_rng(0)
    changed = set()
    for t in range(90):
        arm = int(rng.integers(3))
        reward = (3.0 - t // 30 % 2 * 3.0) * (arm == 0) + rng.normal()
        agent.record(arm, reward)
        policy.record(state, [arm], [reward])
        changed.add(bool(state.changed[0]))
        for key, value in state.to_dict().items():
            np.testing.assert_array_equal(agent.state.to_dict()[key], value, err_msg=key)
        assert agent.state.counts.tobytes() == state.counts.tobytes()
        assert agent.state.sums.tobytes() == state.sums.tobytes()
    assert changed >= {True}
    assert changed == {True} or forget == "on_change"


@pytest.mark.plain
@pytest.mark.parametrize("name", list(lob.POLICIES))
def test_what_is_no_half_life_is_refused_at_once(name: str) -> None:
    for wrong in (0, -1, float("inf"), "day"):
        with pytest.raises(LobInputError, match="half_life"):
            lob.make_policy(name, KNOWN, horizon=9, half_life=wrong)
    with pytest.raises(LobInputError, match="forget 'seldom'"):
        lob.make_policy(name, KNOWN, horizon=9, half_life=5, forget="seldom")


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


# Forgetting on a change --------------------------------------------------------------------------

WARY = UCB(3, 1.0, half_life=HALF_LIFE)


def doubts(rewards: Rewards) -> Any:
    """Return the squared difference of means over its variance, from the rewards themselves."""
    found = np.zeros((2, 3))
    for cell in {(user, arm) for user, arm, _, _ in rewards}:
        mine = [(r, t) for user, arm, r, t in rewards if (user, arm) == cell]
        values, times = np.array(mine).T
        g = 2.0 ** ((times - times.max()) / HALF_LIFE)
        variance = (g @ g) / g.sum() ** 2 - 1 / len(g)
        gap = abs(g @ values / g.sum() - values.mean())
        if variance * len(g) > 1e-9 and gap > 1e-12 * np.abs(values).max():
            found[cell] = gap**2 / variance
    return found


@given(rewards=REWARDS, cut=st.integers(0, 30), seed=st.integers(0, 99))
def test_what_is_read_depends_on_the_rewards_alone(rewards: Rewards, cut: int, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rewards)).tolist()
    parts: list[Any] = [WARY.start(2), WARY.start(2)]
    for part, some in zip(parts, (order[:cut], order[cut:]), strict=True):
        for i in some:
            user, arm, reward, when = rewards[i]
            WARY.record(part, [arm], [reward], [user], [when])
    merged = parts[0].merge(parts[1])
    plain_doubts = doubts(rewards)
    np.testing.assert_allclose(merged.ledger[:, :, DOUBT], plain_doubts, rtol=1e-6, atol=1e-9)
    if (abs(plain_doubts - 16.0) > 1e-3).all():
        assert merged.changed.tolist() == (plain_doubts.max(axis=1) > 16.0).tolist()
    back: Any = WARY.restore(merged.to_dict())
    assert back.changed.tolist() == merged.changed.tolist()
    np.testing.assert_allclose(back.counts, merged.counts, rtol=1e-12)
    for user in np.flatnonzero(~merged.changed):
        assert merged.counts[user].tolist() == merged.ledger[user, :, COUNT].tolist()


def test_the_difference_of_the_means_has_the_variance_that_is_said() -> None:
    rng = np.random.default_rng(0)
    policy = UCB(1, 1.0, half_life=5)
    state: Any = policy.start(4000)
    for _ in range(25):
        policy.record(state, np.zeros(4000, int), 3.0 + rng.normal(size=4000))
    # Squares of standard normals: mean 1 and variance 2.
    assert state.ledger[:, :, DOUBT].mean() == pytest.approx(1.0, abs=4 * np.sqrt(2 / 4000))
    assert state.changed.mean() < 0.002


@pytest.mark.parametrize("name", ["ucb", "ts", "lobucb", "lobts", "lobimed", "lobids", "lobbayes"])
def test_as_long_as_nobody_changes_nothing_is_forgotten(name: str) -> None:
    never: Any = lob.make_policy(name, KNOWN, horizon=50)
    wary: Any = lob.make_policy(name, KNOWN, horizon=50, half_life=10)
    states, rng = (never.start(4), wary.start(4)), np.random.default_rng(0)
    for _ in range(30):
        noise = never.draw(rng, (4,))
        arms = never.decide(states[0], noise, never.all_arms)
        assert wary.decide(states[1], noise, wary.all_arms).tolist() == arms.tolist()
        rewards = 0.5 * rng.normal(size=4) - arms
        never.record(states[0], arms, rewards)
        wary.record(states[1], arms, rewards)
    assert not states[1].changed.any()
    assert states[1].counts.tolist() == states[0].counts.tolist()
    assert states[1].sums.tobytes() == states[0].sums.tobytes()


@pytest.mark.parametrize("name", ["ucb", "lobucb", "lobts", "lobimed", "lobids", "mucb"])
def test_what_was_derived_is_right_after_a_switch(name: str) -> None:
    """Users change and come back; probabilities are always those of a fresh start."""
    rng = np.random.default_rng(1)
    policy: Any = lob.make_policy(name, KNOWN, horizon=50, half_life=6)
    state = policy.start(3)
    seen = set()
    for t in range(120):
        arms = policy.choose(state, rng)
        means = np.array([2.0, 1.0, 0.0]) if 40 <= t < 52 else np.array([0.0, 1.0, 2.0])
        policy.record(state, arms, means[arms] + 0.5 * rng.normal(size=3))
        seen |= set(state.changed.tolist())
        fresh = policy.restore(state.to_dict())
        np.testing.assert_allclose(fresh.counts, state.counts, rtol=1e-9)
        chances = policy.probabilities(state), policy.probabilities(fresh)
        np.testing.assert_allclose(*chances, atol=1e-7)
    assert seen == ({True} if name == "mucb" else {True, False})


def test_what_cannot_be_judged_is_forgotten_always() -> None:
    policy: Any = lob.make_policy("mucb", KNOWN, horizon=50, half_life=6)
    assert policy.start().changed.all()
    assert not WARY.start().changed.any()  # type: ignore[attr-defined]
    with pytest.raises(LobInputError, match="forget"):
        UCB(2, 1.0, half_life=3, forget="never").start()


@pytest.mark.parametrize(
    ("name", "column", "wrong", "why"),
    [
        ("ledger", WEIGHT, -1.0, "weights in the ledger must not be negative"),
        ("ledger", SQUARES, -1.0, "weights in the ledger must not be negative"),
        ("ledger", SUM, 2.0, "must be 0 where the count is 0"),
        ("ledger", COUNT, 1.5, "must be whole numbers from 0"),
        ("ledger", COUNT, -1.0, "must be whole numbers from 0"),
        ("facts", HALF_LIFE_COLUMN, 0.0, "half-lives in facts must be positive"),
    ],
)
def test_a_state_of_other_sums_is_refused(name: str, column: int, wrong: float, why: str) -> None:
    data = WARY.start().to_dict()
    data[name][..., column] = wrong
    with pytest.raises(LobInputError, match=why):
        WARY.restore(data)
