import numpy as np
import pytest
from tests.policies.cases import assert_same_game, constant, gaussian, random_problems
from tests.policies.reference import MTSTwin

from lobandits.errors import LobInputError
from lobandits.policies import MTS

USERS = 4


@pytest.mark.parametrize("sigma", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("n_states", "n_arms"), [(1, 1), (1, 4), (3, 1), (7, 5)])
def test_agrees_with_the_listing(n_states: int, n_arms: int, sigma: float) -> None:
    means = random_problems(n_arms, n_states, sigma, 1.0, USERS).state_means
    twins = [MTSTwin(user.tolist(), sigma) for user in means]
    assert_same_game(MTS(means, sigma), twins, gaussian(means[:, 0], sigma), rounds=60)


@pytest.mark.plain
def test_agrees_with_the_listing_on_ties_prior_and_first_plays() -> None:
    means = [[1.0, 1.0, 0.0], [0.0, 0.5, 0.5], [1.0, 1.0, 1.0], [9.0, 0.0, 0.0]]
    prior = [0.2, 0.5, 0.3, 0.0]
    twins = [MTSTwin(means, 2.0, prior, best_arms_first=True) for _ in range(30)]
    policy = MTS(np.array(means), 2.0, shares=np.array(prior), best_arms_first=True)
    assert_same_game(policy, twins, constant, rounds=30)


def test_agrees_with_the_listing_on_states_that_are_equal() -> None:
    means = [[0.5, 0.5]] * 3
    twins = [MTSTwin(means, 1.0) for _ in range(20)]
    assert_same_game(MTS(np.array(means), 1.0), twins, constant, rounds=20)


@pytest.mark.plain
def test_posterior_by_hand() -> None:
    policy = MTS(np.array([[1.0, 0.0], [0.0, 1.0]]), sigma=2.0, shares=np.array([1.0, 3.0]))
    state = policy.start()
    policy.record(state, [0, 1], [2.0, 1.0], users=0)
    # squares: state 0: 1 + 1, state 1: 4 + 0
    weights = np.array([0.25 * np.exp(-2 / 8), 0.75 * np.exp(-4 / 8)])
    assert policy.probabilities(state)[0] == pytest.approx(weights / weights.sum())
    rows = policy.explain(state).states
    assert [row["posterior"] for row in rows] == pytest.approx(weights / weights.sum())
    assert [row["log-likelihood"] for row in rows] == pytest.approx([0.0, -0.25])
    assert [row["best arm"] for row in rows] == ["0", "1"]


@pytest.mark.plain
def test_best_arms_first() -> None:
    policy = MTS(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), 1.0, best_arms_first=True)
    state = policy.start()
    policy.record(state, 0, 50.0)
    assert policy.probabilities(state).tolist() == [[0.0, 1.0, 0.0]]
    assert policy.decide(state, np.array([0.1]), policy.all_arms).tolist() == [1]
    policy.record(state, 1, 0.0)
    assert policy.probabilities(state).tolist() == [[1.0, 0.0, 0.0]]


def test_means_far_from_zero_lose_no_digits() -> None:
    means = np.array([[0.0, 1.0], [1.0, 0.0]])
    near, far = MTS(means, 1.0), MTS(means + 2.0**40, 1.0)
    here, there = near.start(), far.start()
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 2, 400), rng.integers(-4, 5, 400) / 8 + 0.5
    near.record(here, arms, rewards, users=0)
    far.record(there, arms, rewards + 2.0**40, users=0)
    assert far.probabilities(there) == pytest.approx(near.probabilities(here), rel=1e-12)


def test_states_far_behind_have_probability_zero() -> None:
    policy = MTS(np.array([[1.0, 0.0], [0.0, 1.0]]), sigma=0.1)
    state = policy.start()
    policy.record(state, 0, 1.0)
    assert policy.probabilities(state).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    "shares", [[1.0], [0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], [[0.5, 0.5]], ["a", "b"]]
)
def test_refuses_what_are_no_shares(shares: list[float]) -> None:
    with pytest.raises(LobInputError, match="shares"):
        MTS(np.eye(2), 1.0, shares=np.array(shares))


@pytest.mark.parametrize("means", [[1.0, 2.0], [[np.inf, 1.0]], np.zeros((0, 3)), [["x"]]])
def test_refuses_what_is_no_means(means: list[float]) -> None:
    with pytest.raises(LobInputError, match="state_means"):
        MTS(np.array(means), 1.0)


def test_means_are_kept_as_they_were() -> None:
    means = np.eye(3)
    policy = MTS(means, 1.0)
    means[:] = 0
    assert policy.state_means.tolist() == np.eye(3).tolist()
    with pytest.raises(ValueError, match="read-only"):
        policy.state_means[0, 0] = 2
