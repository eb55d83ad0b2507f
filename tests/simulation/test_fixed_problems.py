import numpy as np
import pytest
from tests.simulation.helpers import fixed, shared_orders

from lobandits.errors import LobInputError
from lobandits.orders import UserOrders
from lobandits.simulation import FixedProblems, simulate
from lobandits.simulation.rewards import clipped_mean


def test_users_cycle_through_the_rows() -> None:
    means = [[3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [1.0, 1.5, 0.0, 0.5]]
    env = FixedProblems(means, shared_orders(), sigma=2.0, states=[0, 1, -1])
    problems = env.sample(5, seed=0, first=1)
    assert problems.means.tolist() == [means[1], means[2], means[0], means[1], means[2]]
    assert problems.states.tolist() == [1, -1, 0, 1, -1]
    assert problems.sigma == 2.0
    assert problems.state_means is None
    assert env.problems.n_users == 3


def test_one_row_repeats() -> None:
    problems = fixed().sample(3, seed=9)
    assert problems.means.tolist() == [[3.0, 2.0, 1.0, 0.0]] * 3
    assert repr(fixed()) == (
        "FixedProblems(n_rows=1, n_arms=4, n_states=2, sigma=1, rewards='gaussian')"
    )


def test_orders_of_each_row_follow_their_users() -> None:
    own = UserOrders([[[0, 1, 2], [2, 1, 0]], [[1, 0, 2], [2, 0, 1]]])
    env = FixedProblems(np.eye(3)[:2], own, sigma=1.0)
    problems = env.sample(3, seed=0)
    assert isinstance(problems.orders, UserOrders)
    assert problems.orders == own.take([0, 1, 0])


def test_clipped_means_are_those_after_clipping() -> None:
    env = fixed(rewards="clipped", bounds=(1.0, 2.0))
    problems = env.sample(1, seed=0)
    before = np.array([[3.0, 2.0, 1.0, 0.0]])
    assert np.array_equal(problems.means, clipped_mean(before, 1.0, (1.0, 2.0)))
    assert np.array_equal(problems.noise_location, before)


def test_unknown_states_are_minus_one() -> None:
    env = FixedProblems(np.zeros((2, 4)), shared_orders(), 1.0)
    assert env.sample(2, 0).states.tolist() == [-1, -1]


def test_wrong_means_are_refused() -> None:
    with pytest.raises(LobInputError, match="means"):
        FixedProblems([[1.0, np.inf]], shared_orders(), 1.0)
    with pytest.raises(LobInputError, match="between 0 and 1"):
        FixedProblems(np.full((1, 4), 2.0), shared_orders(), 1.0, rewards="bernoulli")
    with pytest.raises(LobInputError, match="must not be negative, got -1"):
        FixedProblems([3.0, 2.0, 0.0, -1.0], shared_orders(), 1.0, rewards="poisson")


def test_counts_are_played_on() -> None:
    env = FixedProblems([4.0, 2.0, 0.5, 0.0], shared_orders(), 1.5, rewards="poisson")
    assert env.sample(2, seed=0).means.tolist() == [[4.0, 2.0, 0.5, 0.0]] * 2
    assert repr(env).endswith("rewards='poisson')")
    result = simulate(env, ["ts", "lobts"], 100, 60, progress=False)
    for regret in result.regret.values():
        assert regret[:, -20:].mean() < 0.5  # most users are at the best arm
