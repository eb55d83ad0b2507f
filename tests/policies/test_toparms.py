import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference import UCBTwin, top_arms

from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.policies import TopArmsUCB

MEANS = np.random.default_rng(5).normal(size=(4, 6))


@pytest.mark.parametrize("q", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("n_states", [1, 3])
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
def test_agrees_with_ucb_on_the_top_arms(n_states: int, q: float, sigma: float) -> None:
    orders = random_problems(6, n_states, sigma, q, n_users=4).orders
    assert isinstance(orders, UserOrders)
    twins = [UCBTwin(6, sigma, arms=top_arms(user)) for user in orders]
    assert_same_game(TopArmsUCB(orders, sigma), twins, gaussian(MEANS, sigma), rounds=100)


def test_agrees_with_ucb_on_the_top_arms_of_shared_orders_and_equal_arms() -> None:
    orders = LatentOrders.from_relations(5, [[(0, 1), (2, 1)], [(3, 0), (3, 2)]])
    twins = [UCBTwin(5, 1.0, arms=top_arms(orders)) for _ in range(8)]
    assert_same_game(TopArmsUCB(orders, 1.0), twins, constant, rounds=40)


@pytest.mark.plain
def test_arms_below_others_everywhere_are_never_played() -> None:
    orders = LatentOrders.from_rankings([[2, 0, 1], [0, 2, 1]])
    policy = TopArmsUCB(orders, sigma=1.0)
    state = policy.start()
    policy.record(state, [0, 1, 2], [0.0, 100.0, 1.0], users=0)
    assert policy.probabilities(state).tolist() == [[0.0, 0.0, 1.0]]
    assert [row["on top"] for row in policy.explain(state).arms] == [True, False, True]


def test_refuses_what_is_no_orders() -> None:
    with pytest.raises(LobInputError, match="LatentOrders or UserOrders"):
        TopArmsUCB([[0, 1]], sigma=1.0)  # type: ignore[arg-type]
