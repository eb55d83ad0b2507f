import pickle
from typing import Any

import numpy as np
import pytest
from tests.simulation.helpers import shared_orders

from lobandits.beliefs import Prior
from lobandits.errors import LobInputError
from lobandits.orders import UserOrders
from lobandits.simulation import Environment, Problems, Synthetic


def arguments(**changes: Any) -> dict[str, Any]:
    means = np.array([[3.0, 1.0, 0.5, 0.0], [0.0, 1.0, 2.0, 2.5]])
    return {"means": means, "sigma": 1.0, "states": [0, 1], "orders": shared_orders()} | changes


def test_best_arms_and_gaps() -> None:
    problems = Problems(**arguments())
    assert problems.best.tolist() == [0, 3]
    assert problems.gaps.tolist() == [[0.0, 2.0, 2.5, 3.0], [2.5, 1.5, 0.5, 0.0]]
    assert (problems.n_users, problems.n_arms, problems.n_states, len(problems)) == (2, 4, 2, 2)
    assert repr(problems) == (
        "Problems(n_users=2, n_arms=4, n_states=2, sigma=1, rewards='gaussian')"
    )


def test_arrays_are_read_only_copies() -> None:
    given = arguments()
    problems = Problems(**given)
    with pytest.raises(ValueError, match="read-only"):
        problems.means[0, 0] = 1.0
    given["means"][0, 0] = 9.0
    assert problems.means[0, 0] == 3.0


def test_take_selects_users_of_all_parts() -> None:
    env = Synthetic(n_arms=4, n_states=3, rewards="clipped", scale=(0.5, 2.0))
    problems = env.sample(6, seed=1)
    some = problems.take([4, 1, 4])
    assert np.array_equal(some.means, problems.means[[4, 1, 4]])
    assert np.array_equal(some.noise_location, problems.noise_location[[4, 1, 4]])
    assert some.state_means is not None
    assert problems.state_means is not None
    assert np.array_equal(some.state_means, problems.state_means[[4, 1, 4]])
    assert isinstance(problems.orders, UserOrders)
    assert some.orders == problems.orders.take([4, 1, 4])
    assert some.bounds == problems.bounds


def test_without_orders_those_of_the_prior_are_known() -> None:
    prior = Prior.from_orders(shared_orders())
    problems = Problems(**arguments(orders=None, past=prior))
    assert problems.orders is None
    assert (problems.n_states, problems.arms) == (2, prior.arms)
    assert problems.known_orders == shared_orders()
    assert Problems(**arguments()).known_orders == shared_orders()
    with pytest.raises(LobInputError, match="orders have 4 arms, but means have 3"):
        Problems(**arguments(orders=None, past=prior, means=np.zeros((2, 3))))


def test_take_leaves_shared_parts() -> None:
    problems = Problems(**arguments(state_means=np.zeros((2, 4))))
    some = problems.take([1])
    assert some.orders is problems.orders
    assert some.state_means is not None
    assert some.state_means.shape == (2, 4)


def test_problems_pickle() -> None:
    problems = Synthetic(n_arms=4, n_states=3).sample(3, seed=0)
    again = pickle.loads(pickle.dumps(problems))
    assert np.array_equal(again.means, problems.means)
    assert again.orders == problems.orders


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"means": np.zeros(4)}, "means must have 2 axes"),
        ({"means": np.full((2, 4), np.nan)}, r"means\[0, 0\] is nan"),
        ({"means": np.zeros((2, 3))}, "orders have 4 arms, but means have 3"),
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"states": [0]}, "states must have shape"),
        ({"states": [0, 2]}, "states must lie between 0 and 1"),
        ({"states": [0.0, 1.0]}, "states must be whole numbers"),
        ({"state_means": np.zeros((3, 4))}, "state_means must have shape"),
        ({"orders": None}, "orders must be LatentOrders or UserOrders, got NoneType"),
        ({"orders": "abc"}, "orders must be LatentOrders or UserOrders, got str"),
        ({"orders": UserOrders.stack([shared_orders()])}, "orders are for 1 users"),
        ({"rewards": "normal"}, "unknown rewards 'normal'"),
        ({"rewards": "bernoulli"}, "between 0 and 1"),
        ({"rewards": "poisson", "means": -np.ones((2, 4))}, "must not be negative, got -1"),
        ({"rewards": "clipped"}, "need location"),
        ({"rewards": "clipped", "location": np.zeros((2, 4))}, "need bounds"),
        (
            {"rewards": "clipped", "location": np.zeros((2, 4)), "bounds": (0, 1)},
            "expected clipped rewards",
        ),
    ],
)
def test_wrong_problems_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        Problems(**arguments(**changes))


def test_environment_is_a_protocol() -> None:
    assert isinstance(Synthetic(), Environment)
    assert not isinstance("synthetic", Environment)
