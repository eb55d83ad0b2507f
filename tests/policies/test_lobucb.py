from itertools import permutations

import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_lob import LobUCBTwin

from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import LobUCB

MEANS = np.random.default_rng(5).normal(size=(4, 6))
DAGS = LatentOrders.from_relations(
    6, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(5, 0), (5, 1), (0, 3), (1, 3)], [(2, 4), (3, 4)]]
)


@pytest.mark.parametrize("q", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("n_states", [1, 3, 5])
@pytest.mark.parametrize("sigma", [1e-6, 0.2, 1e6])
def test_agrees_with_the_listing(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(6, n_states, sigma, q, n_users=4).orders
    assert isinstance(orders, UserOrders)
    twins = [LobUCBTwin(user, sigma) for user in orders]
    policy = LobUCB(orders, sigma)
    assert_same_game(policy, twins, gaussian(MEANS, sigma), rounds=150)


@pytest.mark.parametrize("every", [1, 7])
@pytest.mark.parametrize("radius", [0.5, 4.0])
def test_agrees_with_the_listing_on_dags(every: int, radius: float) -> None:
    twins = [LobUCBTwin(DAGS, 0.3, every, radius) for _ in range(4)]
    policy = LobUCB(DAGS, 0.3, refresh_every=every, radius=radius)
    assert_same_game(policy, twins, gaussian(MEANS, 0.3), rounds=200)


def test_agrees_with_the_listing_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobUCB(DAGS, 1.0), [LobUCBTwin(DAGS, 1.0)] * 1, constant, rounds=60)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobUCB(one, 1.0), [LobUCBTwin(one, 1.0)], constant, rounds=10)


def test_more_than_64_states() -> None:
    rankings = list(permutations(range(6)))[::5]
    orders = LatentOrders.from_rankings(rankings)
    assert orders.n_states == 144
    twins = [LobUCBTwin(orders, 0.2) for _ in range(4)]
    assert_same_game(LobUCB(orders, 0.2), twins, gaussian(MEANS, 0.2), rounds=150)


def test_a_chain_of_relations_rules_a_state_out() -> None:
    """No listed pair is violated, but the closure is: 0 > 1 > 2 and arm 1 was never played."""
    orders = LatentOrders.from_relations(3, [[(0, 1), (1, 2)], [(2, 0)]])
    policy = LobUCB(orders, sigma=0.1)
    state = policy.start()
    policy.record(state, [0] * 50 + [2] * 50, [0.0] * 50 + [9.0] * 50, users=[0] * 100)
    assert [row["feasible"] for row in policy.explain(state).states] == [False, True]


@pytest.mark.plain
def test_no_feasible_state_is_counted_and_falls_back_to_the_tops() -> None:
    orders = LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]])
    policy = LobUCB(orders, sigma=0.1)
    state = policy.start()
    policy.record(state, [0, 1, 2] * 20, [0.0, 0.0, 9.0] * 20, users=[0] * 60)
    assert policy.probabilities(state).tolist() == [[0.5, 0.5, 0.0]]
    assert {int(policy.choose(state, seed)[0]) for seed in range(20)} == {0, 1}
    assert state.to_dict()["infeasible"].tolist() == [1]
    assert "refreshes without a feasible state: 1;" in str(policy.explain(state))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sigma": -1.0}, "sigma must be positive, got -1.0"),
        ({"sigma": float("nan")}, "sigma must be a finite number"),
        ({"sigma": 1.0, "refresh_every": 0}, "refresh_every must be a whole number of at least 1"),
        ({"sigma": 1.0, "radius": 0.0}, "radius must be positive"),
    ],
)
def test_bad_parameters_are_named(options: dict[str, float], words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        LobUCB(DAGS, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("feasible", [[1, 0]], "feasible must be True or False"),
        ("feasible", [[True]], r"feasible must have shape \(1, 2\)"),
        ("refreshed", [7], "refreshed must lie between -1 and the plays"),
        ("infeasible", [-1], "infeasible must not be negative"),
    ],
)
def test_a_damaged_memory_is_refused(name: str, value: object, words: str) -> None:
    policy = LobUCB(LatentOrders.from_rankings([[0, 1, 2], [1, 0, 2]]), 1.0)
    state = policy.start()
    policy.choose(state, 0)
    with pytest.raises(LobInputError, match=words):
        policy.restore({**state.to_dict(), name: value})  # type: ignore[dict-item]
