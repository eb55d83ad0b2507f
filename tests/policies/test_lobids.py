import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference_ids import LobIDSTwin

from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import LobIDS

MEANS = np.random.default_rng(5).normal(size=(3, 5))
DAGS = LatentOrders.from_relations(
    5, [[(0, 2), (1, 2), (1, 3), (4, 3)], [(0, 1), (0, 3), (1, 4), (3, 4)], [(2, 4), (3, 4)]]
)
TREES = LatentOrders.from_relations(5, [[(0, 1), (0, 2), (3, 4)], [(4, 2), (2, 1), (2, 0)]])


@pytest.mark.parametrize("q", [0.0, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("n_states", [1, 4])
@pytest.mark.parametrize("sigma", [0.01, 0.5, 100.0])
def test_agrees_with_the_five_steps(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(5, n_states, sigma, q, n_users=3).orders
    assert isinstance(orders, UserOrders)
    twins = [LobIDSTwin(user, sigma) for user in orders]
    assert_same_game(LobIDS(orders, sigma), twins, gaussian(MEANS, sigma), rounds=20)


@pytest.mark.parametrize("orders", [DAGS, TREES], ids=["dags", "trees"])
def test_agrees_with_the_five_steps_on_dags_and_trees(orders: LatentOrders) -> None:
    twins = [LobIDSTwin(orders, 0.7) for _ in range(3)]
    assert_same_game(LobIDS(orders, 0.7), twins, gaussian(MEANS, 0.7), rounds=30)


def test_agrees_with_the_five_steps_on_equal_arms_and_on_one_arm() -> None:
    assert_same_game(LobIDS(DAGS, 1.0), [LobIDSTwin(DAGS, 1.0)], constant, rounds=15)
    one = LatentOrders.from_rankings([[0]])
    assert_same_game(LobIDS(one, 1.0), [LobIDSTwin(one, 1.0)], constant, rounds=5)
