"""LobIDS: its twin on all kinds of orders, users with orders of their own, units, extremes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_prior import LobIDSTwin
from tests.projection.cases import KINDS

from lobandits.beliefs import Prior
from lobandits.orders import LatentOrders, PartialOrder, UserOrders
from lobandits.policies import LobBayes, LobIDS

MEANS = np.random.default_rng(5).normal(size=(3, 5))
DAGS = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4), (3, 4)]]
)
TOTALS = [LatentOrders.from_rankings([[0, 1, 2], [2, 0, 1]]), LatentOrders.from_rankings([[0]])]
TREES = LatentOrders.from_relations(5, [[(0, 1), (0, 2), (3, 4)], [(4, 2), (2, 1), (2, 0)]])


@pytest.mark.parametrize("q", [0.0, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("n_states", [1, 4])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 100.0])
def test_agrees_with_its_twin(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(5, n_states, sigma, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [LobIDSTwin(user, sigma) for user in orders]
    assert_same_game(LobIDS(orders, sigma), twins, gaussian(MEANS, sigma), rounds=10)


@pytest.mark.parametrize("orders", [DAGS, TREES], ids=["dags", "trees"])
def test_agrees_with_its_twin_on_dags_and_trees(orders: LatentOrders) -> None:
    twins = [LobIDSTwin(orders, 0.7) for _ in range(3)]
    assert_same_game(LobIDS(orders, 0.7), twins, gaussian(MEANS, 0.7), rounds=15)


def test_agrees_with_its_twin_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobIDS(DAGS, 1.0), [LobIDSTwin(DAGS, 1.0)], constant, rounds=8)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobIDS(one, 1.0), [LobIDSTwin(one, 1.0)], constant, rounds=5)


def relations(order: PartialOrder) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in np.argwhere(order.precedes)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=12)
@given(st.data())
def test_users_do_not_depend_on_each_other(kind: str, data: st.DataObject) -> None:
    """Whatever orders the others have, and whatever chains."""
    k = data.draw(st.integers(2, 5))
    users = data.draw(
        st.lists(
            st.lists(KINDS[kind](k), min_size=2, max_size=2, unique=True), min_size=2, max_size=3
        )
    )
    orders = UserOrders.stack(
        LatentOrders.from_relations(k, [relations(state) for state in states]) for states in users
    )
    policy = LobIDS(orders, 1.0)
    state = policy.start(len(users))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    state.counts[:] = rng.integers(0, 4, state.counts.shape)
    state.sums[:] = state.counts * rng.normal(size=state.counts.shape)
    together = policy.probabilities(state)
    for u in range(len(users)):
        alone = policy.take([u]).probabilities(state.take([u]))
        np.testing.assert_allclose(alone[0], together[u], atol=1e-9)


def test_users_in_blocks_are_users_together(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_users in (None, 6):
        policy = LobIDS(random_problems(5, 3, 1.0, 0.6, n_users).orders, 1.0)
        state, rng = policy.start(6), np.random.default_rng(0)
        state.counts[:] = rng.integers(0, 4, (6, 5))
        state.sums[:] = state.counts * rng.normal(size=(6, 5))
        wanted = policy.probabilities(state)
        with monkeypatch.context() as patch:
            patch.setattr("lobandits.policies.lobids.BLOCK", 1)
            np.testing.assert_array_equal(policy.probabilities(state), wanted)


def test_it_believes_what_lobbayes_does_of_orders() -> None:
    policy, other = LobIDS(DAGS, 0.8), LobBayes(Prior.from_orders(DAGS, 0.8))
    state = policy.start()
    policy.record(state, [0, 2, 2, 4], [0.5, 1.0, 0.0, -1.0], users=[0] * 4)
    mine = [row["chance"] for row in policy.explain(state).states]
    theirs = [row["chance"] for row in other.explain(state).states]
    np.testing.assert_allclose(mine, theirs, atol=1e-9)
    assert sum(mine) == pytest.approx(1.0)


@pytest.mark.plain
def test_the_first_pull_is_not_the_worst() -> None:
    policy = LobIDS(LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0], [1, 2, 0]]), sigma=1.0)
    chances = policy.probabilities(policy.start())[0]
    assert chances[0] == 0.0  # on top as often as the others, and twice as often last


@pytest.mark.plain
def test_one_possible_top_is_played_nearly_always() -> None:
    policy = LobIDS(LatentOrders.from_rankings([[1, 0, 2], [1, 2, 0]]), sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 2], [0.4, 0.9, 0.1], users=[0, 0, 0])
    assert policy.probabilities(state)[0, 1] > 0.9


@pytest.mark.plain
def test_plays_an_arm_for_what_it_tells() -> None:
    """Arm 2 is best in no state, but its mean says which state it is."""
    orders = LatentOrders.from_rankings([[0, 1, 2, 3], [1, 0, 3, 2]])
    policy = LobIDS(orders, sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 3], [5.0, 5.0, 1.0], users=0)
    explained = policy.explain(state)
    assert [row["on top"] for row in explained.arms][2:] == [0.0, 0.0]
    assert sum(row["on top"] for row in explained.arms) == pytest.approx(1)
    assert explained.arms[2]["information"] > 0


@pytest.mark.parametrize("sigma", [1e-50, 1e-3, 1.0, 1e50])
@pytest.mark.parametrize("size", [0.0, 1e-50, 1.0, 1e50])
@pytest.mark.parametrize("orders", [DAGS, TREES, *TOTALS], ids=["dags", "trees", "total", "one"])
def test_any_scale_and_any_plays(orders: LatentOrders, size: float, sigma: float) -> None:
    policy = LobIDS(orders, sigma)
    rng = np.random.default_rng(0)
    for plays in (1, 10**9):
        state = policy.start(50)
        state.counts[:] = plays * rng.integers(0, 3, size=state.counts.shape)
        state.sums[:] = size * rng.normal(size=state.counts.shape) * state.counts
        odds = policy.probabilities(state)
        assert (odds >= 0).all()
        np.testing.assert_allclose(odds.sum(axis=1), 1)


def test_scale_and_shift_change_little() -> None:
    """Rewards and sigma in other units, the same choices; the shift is as good as flat."""
    orders = random_problems(6, 5, 1.0, 0.8, n_users=None).orders
    rng = np.random.default_rng(1)
    counts, sums = rng.integers(0, 9, size=(40, 6)), rng.normal(size=(40, 6))
    odds = []
    for scale, shift in ((1.0, 0.0), (2.0**-20, 0.0), (2.0**10, 2.0**11)):
        policy = LobIDS(orders, 0.5 * scale)
        state = policy.start(40)
        state.counts[:] = counts
        state.sums[:] = counts * (scale * sums + shift)
        odds.append(policy.probabilities(state))
    np.testing.assert_allclose(odds[1], odds[0], atol=1e-6)
    assert np.abs(odds[2] - odds[0]).mean() < 0.02
