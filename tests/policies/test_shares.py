"""Shares, the prior of the states: twins, equal shares, states ruled out, storing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, gaussian, random_problems
from tests.policies.reference import MTSTwin
from tests.policies.reference_lob import LobIMEDTwin, LobTSTwin
from tests.policies.reference_prior import LobIDSTwin

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.policies import MTS, LobIDS, LobIMED, LobTS, Policy, policy_from_dict
from lobandits.policies.registry import stored_form

K, M, USERS, SIGMA = 5, 4, 3, 0.7
NAMES = ["lobts", "lobimed", "lobids", "mts"]
SHARES = [0.5, 0.02, 0.0, 1.3]
MEANS = np.random.default_rng(5).normal(size=(USERS, K))


def with_shares(name: str, shares: Any, q: float = 0.5, n_users: int | None = None) -> Policy:
    problems = random_problems(K, M, SIGMA, q, n_users, seed=3)
    if name == "mts":
        return MTS(problems.state_means, SIGMA, shares=shares)
    classes: dict[str, type[LobTS | LobIMED | LobIDS]] = {
        "lobts": LobTS,
        "lobimed": LobIMED,
        "lobids": LobIDS,
    }
    return classes[name](problems.orders, SIGMA, shares=shares)


def twin_of(name: str, q: float, user: int, shares: list[float]) -> Any:
    problems = random_problems(K, M, SIGMA, q, USERS, seed=3)
    orders: Any = problems.orders[user]
    if name == "mts":
        return MTSTwin(problems.state_means[user].tolist(), SIGMA, shares)
    if name == "lobts":
        return LobTSTwin(orders, SIGMA, shares=shares)
    return {"lobimed": LobIMEDTwin, "lobids": LobIDSTwin}[name](orders, SIGMA, shares)


@pytest.mark.parametrize("q", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_its_twin(name: str, q: float) -> None:
    twins = [twin_of(name, q, user, SHARES) for user in range(USERS)]
    policy = with_shares(name, SHARES, q, USERS)
    assert_same_game(policy, twins, gaussian(MEANS, SIGMA), rounds=20)


def play(policy: Policy, rounds: int = 20) -> tuple[list[list[int]], FloatArray]:
    """The arms played, and the chances of the next round."""
    state, rng, arms = policy.start(USERS), np.random.default_rng(0), []
    for t in range(rounds):
        some = [t % 3 == 0 or a != t % K for a in range(K)]
        arms.append(policy.choose(state, rng, some))
        policy.record(state, arms[-1], MEANS[range(USERS), arms[-1]] + SIGMA * rng.normal(size=3))
    return [row.tolist() for row in arms], policy.probabilities(state)


@pytest.mark.parametrize("name", NAMES)
def test_equal_shares_are_no_shares(name: str) -> None:
    arms, chances = play(with_shares(name, None))
    for shares in ([1, 1, 1, 1], [0.25] * M, np.full(M, 7.0)):
        same, equal = play(with_shares(name, shares))
        assert same == arms
        np.testing.assert_array_equal(equal, chances)


@pytest.mark.parametrize("name", NAMES)
def test_only_ratios_matter(name: str) -> None:
    arms, chances = play(with_shares(name, SHARES))
    same, equal = play(with_shares(name, [8 * share for share in SHARES]))
    assert same == arms
    np.testing.assert_allclose(equal, chances, atol=1e-12)


@pytest.mark.parametrize("name", ["lobts", "lobimed", "lobids"])
def test_a_state_of_share_zero_is_ruled_out(name: str) -> None:
    """Whatever the rewards: as if the orders did not have it."""
    classes: Any = {"lobts": LobTS, "lobimed": LobIMED, "lobids": LobIDS}
    relations = [[(0, 1), (2, 1), (3, 4)], [(1, 2), (2, 0), (1, 4)], [(4, 3), (3, 0)]]
    every = classes[name](LatentOrders.from_relations(K, relations), 1.0, shares=[0.4, 0.0, 0.6])
    without = classes[name](
        LatentOrders.from_relations(K, [relations[0], relations[2]]), 1.0, shares=[0.4, 0.6]
    )
    rng = np.random.default_rng(1)
    for t in range(30):
        state, other = every.start(), without.start()
        counts = rng.integers(0, 9, size=(1, K)) if t else np.zeros((1, K), np.int64)
        for one in (state, other):
            one.counts[:], one.sums[:] = counts, counts * [[0.0, 5.0, 2.0, 1.0, 0.0]]
        some = rng.random(K) < 0.7
        some[t % K] = True
        for allowed in (None, some):
            found = every.probabilities(state, allowed)
            np.testing.assert_allclose(found, without.probabilities(other, allowed), atol=1e-9)
        assert every.state_posterior(state)[0, 1] == 0.0


@pytest.mark.plain
def test_one_state_left_is_the_state() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    for cls in (LobTS, LobIMED, LobIDS):
        policy: Policy = cls(orders, 1.0, shares=np.array([0.0, 1.0, 0.0]))
        state = policy.start()
        for reward in (9.0, 99.0):
            assert policy.probabilities(state).tolist() == [[0.0, 0.0, 1.0]], cls
            assert policy.probabilities(state, [True, True, False]).tolist() == [[0.0, 1.0, 0.0]]
            policy.record(state, [0], [reward])


@pytest.mark.plain
def test_shares_are_the_chances_before_the_first_reward() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 0, 2]])
    shares = np.array([0.2, 0.5, 0.3])
    policy = LobTS(orders, 3.0, shares=shares)
    state = policy.start()
    assert policy.probabilities(state)[0] == pytest.approx([0.2, 0.3, 0.5])
    assert policy.probabilities(state, [True, True, False])[0] == pytest.approx([2 / 7, 5 / 7, 0])
    assert policy.state_posterior(state)[0] == pytest.approx(shares)


positive = st.lists(st.floats(0, 1e3), min_size=M, max_size=M).filter(lambda x: sum(x) > 1e-3)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(shares=positive)
def test_storing_keeps_them(name: str, shares: list[float]) -> None:
    policy = with_shares(name, shares)
    data = stored_form(policy)
    back = policy_from_dict(data)
    assert back == policy
    assert hash(back) == hash(policy)
    assert back.to_dict() == data
    assert np.sum(data["shares"]) == pytest.approx(1)
    assert policy_from_dict(back.to_dict()) == policy


@pytest.mark.parametrize("name", NAMES)
def test_storing_leaves_out_no_user(name: str) -> None:
    policy = with_shares(name, SHARES, n_users=USERS)
    one = policy.take([1])
    back = policy_from_dict(one.to_dict())
    state, other = one.start(), back.start()
    for user_state, its in ((state, one), (other, back)):
        its.record(user_state, [0, 3], [1.0, 2.0], users=0)
    np.testing.assert_array_equal(one.probabilities(state), back.probabilities(other))


@pytest.mark.parametrize(
    "shares",
    [[1.0] * (M - 1), [1.0] * (M + 1), [0.0] * M, [-0.1, 1, 1, 1], [[1.0] * M], 1.0, [1e308] * M],
)
@pytest.mark.parametrize("name", NAMES)
def test_other_shares_are_refused(name: str, shares: Any) -> None:
    with pytest.raises(LobInputError, match="shares must be 4 numbers, one per state"):
        with_shares(name, shares)


@pytest.mark.parametrize("name", NAMES)
def test_shares_that_are_no_numbers_are_refused(name: str) -> None:
    for shares in ([1.0, np.nan, 1.0, 1.0], [np.inf, 1.0, 1.0, 1.0], ["a"] * M):
        with pytest.raises(LobInputError, match="shares"):
            with_shares(name, shares)
