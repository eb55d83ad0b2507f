import pickle
from typing import Any

import numpy as np
import pytest
from tests.policies.cases import random_problems
from tests.policies.reference import RelativeTwin

from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import DuelState, RelativeLobTS, duels_from_rewards

DAG = LatentOrders.from_relations(4, [[(0, 2), (1, 2), (2, 3)], [(3, 0)], [(2, 1), (1, 0), (0, 3)]])


def assert_same_duels(policy: RelativeLobTS, twins: list[RelativeTwin], rounds: int) -> None:
    rng = np.random.default_rng(0)
    state = policy.start(len(twins))
    for t in range(rounds):
        pairs = policy.choose(state, rng=t)
        noise = np.random.default_rng(t).random((len(twins), 2))
        expected = [twin.choose(u) for twin, u in zip(twins, noise.tolist(), strict=True)]
        assert pairs.tolist() == [list(pair) for pair in expected]
        mixed = rng.permuted(np.tile(np.arange(policy.n_arms), (len(twins), 1)), axis=1)[:, :2]
        for duels in (pairs, mixed):
            winners = duels[np.arange(len(twins)), rng.integers(0, 2, len(twins))]
            policy.record(state, duels, winners)
            for twin, pair, winner in zip(twins, duels.tolist(), winners.tolist(), strict=True):
                twin.record((pair[0], pair[1]), winner)


@pytest.mark.parametrize("rho", [0.0, 0.2, 0.49999])
@pytest.mark.parametrize("q", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("n_arms", "n_states"), [(2, 1), (5, 1), (5, 4)])
def test_agrees_with_the_appendix(n_arms: int, n_states: int, q: float, rho: float) -> None:
    orders = random_problems(n_arms, n_states, 1.0, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [RelativeTwin(user, rho) for user in orders]
    assert_same_duels(RelativeLobTS(orders, rho), twins, rounds=40)


@pytest.mark.plain
def test_agrees_with_the_appendix_on_shared_orders_of_any_kind() -> None:
    assert_same_duels(RelativeLobTS(DAG, 0.1), [RelativeTwin(DAG, 0.1) for _ in range(3)], 40)


def test_one_arm_duels_with_itself() -> None:
    policy = RelativeLobTS(LatentOrders.from_rankings([[0]]), rho=0.1)
    state = policy.start()
    assert policy.choose(state, 0).tolist() == [[0, 0]]
    policy.record(state, [[0, 0]], [0])
    assert policy.probabilities(state).tolist() == [[[1.0]]]


@pytest.mark.plain
def test_posterior_by_hand() -> None:
    policy = RelativeLobTS(DAG, rho=0.25)
    state = policy.start()
    policy.record(state, [[0, 2], [3, 0], [0, 1]], [2, 3, 1], users=0)
    # state 0: 2 and (implied) 3 stand below 0 and beat it; with 0 on top 1 does so too
    # state 1: 3 beat 0 agrees with it; 2 and 1 beat only 0, which is never on top
    # state 2: 1 beat 0 and 2 beat 0 agree with it, 3 beat 0 does not
    inversions = {(0, 0): 3, (0, 1): 2, (1, 1): 0, (1, 2): 0, (1, 3): 0, (2, 2): 1}
    tops = [2, 3, 1]
    odds = np.zeros(4)
    for (s, a), n in inversions.items():
        odds[a] += 0.25**n / tops[s]
    odds /= odds.sum()
    explanation = policy.explain(state)
    assert [row["inversions"] for row in explanation.states] == [2, 0, 1]
    weights = np.array([0.25**2, 1.0, 0.25])
    posterior = [row["posterior"] for row in explanation.states]
    assert posterior == pytest.approx(weights / weights.sum())
    assert policy.probabilities(state)[0] == pytest.approx(np.outer(odds, odds))
    assert "inversions" in str(explanation)
    assert [row["won"] for row in explanation.arms] == [0, 1, 1, 1]


def test_propensities_are_the_frequencies_of_choices() -> None:
    policy, draws = RelativeLobTS(DAG, rho=0.2), 40_000
    state = policy.start()
    policy.record(state, [[0, 2], [3, 0]], [0, 3], users=0)
    pairs = policy.choose(state.take(np.zeros(draws, np.int64)), rng=1)
    counts = np.zeros((4, 4))
    np.add.at(counts, (pairs[:, 0], pairs[:, 1]), 1)
    p = policy.probabilities(state)[0]
    assert p.sum() == pytest.approx(1)
    assert np.abs(counts / draws - p).max() < 5 * np.sqrt(0.25 / draws)


def test_evidence_decides_between_two_maximal_arms() -> None:
    policy = RelativeLobTS(LatentOrders.from_relations(3, [[(0, 2), (1, 2)]]), rho=0.1)
    state = policy.start()
    winners = np.repeat([0, 1], [900, 100])
    policy.record(state, [[0, 1]] * 1000, winners, users=0)
    assert policy.probabilities(state)[0, 0, 0] > 0.999


def test_shares_are_the_prior() -> None:
    orders = LatentOrders.from_rankings([[0, 1], [1, 0]])
    policy = RelativeLobTS(orders, rho=0.25, shares=np.array([3.0, 1.0]))
    odds = policy.probabilities(policy.start())[0].sum(axis=1)
    assert odds == pytest.approx([0.75, 0.25])
    assert RelativeLobTS.from_dict(policy.to_dict()) == policy


def test_users_order_and_draws_in_recording() -> None:
    policy = RelativeLobTS(DAG, rho=0.2)
    state = policy.start(3)
    policy.record(state, [[0, 1], [2, 3], [0, 1], [1, 0]], [0, 2, 0, -1], users=[2, 0, 2, 1])
    assert state.wins.sum(axis=(1, 2)).tolist() == [1, 0, 2]
    assert state.wins[2, 0, 1] == 2
    merged = state.merge(state)
    assert merged.wins.tolist() == (2 * state.wins).tolist()
    assert repr(state) == "DuelState(n_users=3, n_arms=4, duels=3)"


@pytest.mark.parametrize(
    ("pairs", "winners", "users", "message"),
    [
        ([[0, 4]], [0], [0], r"pairs\[0\] is \[0, 4\]"),
        ([[0, 1]], [2], [0], r"winners\[0\] is 2"),
        ([[0, 1]], [0], [2], "users has 2"),
        ([[0, 1]], [0], None, "1 entries for 2 users"),
        ([[0, 1, 2]], [0], [0], "shape"),
        ([0, 1], [0], [0], "shape"),
        ([[0, 1]], 0, [0], "shape"),
        ([[0.0, 1.0]], [0], [0], "whole numbers"),
    ],
)
def test_what_is_refused_is_not_recorded(
    pairs: Any, winners: Any, users: Any, message: str
) -> None:
    policy = RelativeLobTS(DAG, rho=0.2)
    state = policy.start(2)
    with pytest.raises(LobInputError, match=message):
        policy.record(state, pairs, winners, users=users)
    assert not state.wins.any()


@pytest.mark.parametrize("rho", [-0.1, 0.5, 1.0, np.nan])
def test_refuses_margins_without_meaning(rho: float) -> None:
    with pytest.raises(LobInputError, match="rho"):
        RelativeLobTS(DAG, rho)


def test_refuses_other_states() -> None:
    policy = RelativeLobTS(DAG, 0.1)
    with pytest.raises(LobInputError, match="needs a DuelState"):
        policy.choose(None, 0)  # type: ignore[arg-type]
    with pytest.raises(LobInputError, match="3 arms"):
        policy.choose(DuelState(wins=np.zeros((1, 3, 3), np.int64)), 0)


def test_no_duels_change_nothing() -> None:
    policy = RelativeLobTS(DAG, rho=0.2)
    state = policy.start(2)
    policy.record(state, [], [], users=[])
    assert not state.wins.any()


def test_is_a_value() -> None:
    policy = RelativeLobTS(DAG, 0.1)
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert hash(RelativeLobTS(DAG, 0.1)) == hash(policy)
    assert RelativeLobTS(DAG, 0.2) != policy
    assert RelativeLobTS.from_dict(policy.to_dict()) == policy
    assert repr(policy) == "RelativeLobTS(orders=LatentOrders(3 states, 4 arms, partial), rho=0.1)"


@pytest.mark.plain
def test_duels_are_consecutive_pairs() -> None:
    pairs, winners = duels_from_rewards([3, 1, 2, 2, 0], [1.0, 0.5, 2.0, 2.0, 9.0])
    assert pairs.tolist() == [[3, 1], [2, 2]]
    assert winners.tolist() == [3, 2]


@pytest.mark.plain
def test_equal_rewards_go_to_the_second_arm_or_are_draws() -> None:
    arms, rewards = [0, 1], [4.0, 4.0]
    assert duels_from_rewards(arms, rewards)[1].tolist() == [1]
    assert duels_from_rewards(arms, rewards, draws=True)[1].tolist() == [-1]


def test_duels_of_many_users_at_once() -> None:
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 4, (3, 7)), rng.normal(size=(3, 7))
    pairs, winners = duels_from_rewards(arms, rewards)
    assert pairs.shape == (3, 3, 2)
    for user in range(3):
        one, won = duels_from_rewards(arms[user], rewards[user])
        assert one.tolist() == pairs[user].tolist()
        assert won.tolist() == winners[user].tolist()


@pytest.mark.parametrize(
    ("arms", "rewards"),
    [([0, 1], [1.0]), ([0.5, 1.0], [1.0, 2.0]), ([0, 1], [1.0, np.nan]), (0, 1)],
)
def test_refuses_plays_that_are_none(arms: Any, rewards: Any) -> None:
    with pytest.raises(LobInputError, match="rewards"):
        duels_from_rewards(arms, rewards)
