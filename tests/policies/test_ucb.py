import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian
from tests.policies.reference import UCBTwin

from lobandits.errors import LobInputError
from lobandits.policies import UCB

MEANS = np.random.default_rng(5).normal(size=(4, 6))


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("n_arms", [1, 2, 6])
def test_agrees_with_the_listing(n_arms: int, sigma: float) -> None:
    twins = [UCBTwin(n_arms, sigma) for _ in MEANS]
    assert_same_game(UCB(n_arms, sigma), twins, gaussian(MEANS, sigma), rounds=200)


@pytest.mark.plain
def test_agrees_with_the_listing_when_all_arms_are_equal() -> None:
    twins = [UCBTwin(5, 1.0) for _ in range(20)]
    assert_same_game(UCB(5, 1.0), twins, constant, rounds=60)


@pytest.mark.plain
def test_index_by_hand() -> None:
    policy = UCB(3, sigma=2.0)
    state = policy.start()
    policy.record(state, [0, 0, 1, 2], [0.5, 1.5, 0.5, 0.5], users=0)
    upper = [row["upper"] for row in policy.explain(state).arms]
    radius = np.sqrt(8 * np.log(5) / np.array([2, 1, 1]))
    assert upper == pytest.approx(np.array([1.0, 0.5, 0.5]) + radius)
    assert policy.probabilities(state).tolist() == [[0.0, 0.5, 0.5]]


@pytest.mark.plain
def test_unplayed_arms_come_first() -> None:
    policy = UCB(4, sigma=1.0)
    state = policy.start()
    policy.record(state, [1, 3], [1e6, -1e6], users=0)
    assert policy.probabilities(state).tolist() == [[0.5, 0.0, 0.5, 0.0]]
    assert policy.decide(state, np.array([0.49]), policy.all_arms).tolist() == [0]
    assert policy.decide(state, np.array([0.51]), policy.all_arms).tolist() == [2]


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.nan, np.inf, "one"])
def test_refuses_a_sigma_that_is_no_deviation(sigma: float) -> None:
    with pytest.raises(LobInputError, match="sigma"):
        UCB(3, sigma)


def test_refuses_wrong_arms() -> None:
    with pytest.raises(LobInputError, match="n_arms"):
        UCB(0, 1.0)
    with pytest.raises(LobInputError, match="2 names for 3 arms"):
        UCB(3, 1.0, arms=("a", "b"))
    with pytest.raises(LobInputError, match="more than once"):
        UCB(2, 1.0, arms=("a", "a"))
