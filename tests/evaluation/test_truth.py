"""Truth drawn for judged users: posteriors by the textbook, populations found again."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.evaluation import truth
from lobandits.evaluation.truth import FAMILIES, JudgedRewards, draw_truth, one_gaussian

ARMS = ("x", "y", "z")


def rewards_of(means: np.ndarray, sizes: np.ndarray, seed: int, binary: bool) -> lob.RewardTable:
    """Return a table of users of these means with so many rewards of random arms."""
    rng = np.random.default_rng(seed)
    n, k = means.shape
    users = np.repeat(np.arange(n), sizes)
    arms = rng.integers(k, size=len(users))
    expected = means[users, arms]
    if binary:
        values = (rng.random(len(users)) < expected).astype(float)
    else:
        values = expected + rng.standard_normal(len(users))
    counts, sums, squares = np.zeros((n, k), np.int64), np.zeros((n, k)), np.zeros((n, k))
    np.add.at(counts, (users, arms), 1)
    np.add.at(sums, (users, arms), values)
    np.add.at(squares, (users, arms), values**2)
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), counts, sums, squares)


def test_posteriors_equal_conditioning_of_all_rewards() -> None:
    rng = np.random.default_rng(0)
    mean, root = rng.normal(size=3), rng.normal(size=(3, 3))
    covariance = root @ root.T + np.eye(3)
    counts = np.array([[2, 0, 1], [0, 0, 0]])
    rewards = [(0, 1.5), (0, 0.5), (2, -1.0)]  # of the first user
    sums = np.array([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0]])
    users = JudgedRewards(counts, sums, np.array([0.5, 1.0, 2.0]), False)
    centre, spread = truth._posterior(users, mean, covariance)
    rows = np.array([[float(a == b) for b in range(3)] for a, _ in rewards])
    noise = np.diag([users.noise[a] for a, _ in rewards])
    gain = covariance @ rows.T @ np.linalg.inv(rows @ covariance @ rows.T + noise)
    seen = np.array([r for _, r in rewards])
    np.testing.assert_allclose(centre[0], mean + gain @ (seen - rows @ mean))
    np.testing.assert_allclose(spread[0], covariance - gain @ rows @ covariance, atol=1e-12)
    np.testing.assert_allclose(centre[1], mean)
    np.testing.assert_allclose(spread[1], covariance)


def test_one_gaussian_is_found_again() -> None:
    rng = np.random.default_rng(1)
    mean, covariance = (
        np.array([3.0, 2.0, 1.0]),
        np.array([[1.0, 0.6, 0], [0.6, 1, 0], [0, 0, 0.3]]),
    )
    users = rng.multivariate_normal(mean, covariance, size=1500)
    table = rewards_of(users, np.full(1500, 12), 2, binary=False)
    found = one_gaussian(JudgedRewards(table.counts, table.sums, np.ones(3), False))
    np.testing.assert_allclose(found.means[0], mean, atol=0.12)
    np.testing.assert_allclose(found.covariances[0], covariance, atol=0.15)


def test_states_are_drawn_with_the_chances_of_the_prior() -> None:
    means, spread = np.array([[3.0, 1, 2], [1.0, 3, 2]]), 0.3 * np.eye(3)
    prior = lob.Prior(ARMS, np.array([0.7, 0.3]), means, spread, 0.5, np.array([0.2, 0.4]), 1.0)
    counts, sums = np.array([[1, 1, 0]]), np.array([[2.1, 1.9, 0.0]])
    expected = prior.posterior(counts, sums)[0][0]
    n = 4000
    users = JudgedRewards(np.tile(counts, (n, 1)), np.tile(sums, (n, 1)), np.ones(3), False)
    states = truth._states(users, truth._population_of(prior), np.random.default_rng(0))
    error = np.sqrt(expected[0] * expected[1] / n)
    assert abs((states == 0).mean() - expected[0]) < 4 * error


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("binary", [False, True])
def test_draws_are_users_like_the_true_ones(family: str, binary: bool) -> None:
    rng = np.random.default_rng(3)
    low, high = (0.1, 0.6) if binary else (1.0, 4.0)
    users = np.where(rng.random((400, 1)) < 0.5, [[high, low, low]], [[low, high, low]])
    sizes = np.where(rng.random(400) < 1 / 3, 3, 60)
    table = rewards_of(users, sizes, 4, binary)
    drawn = draw_truth(table, binary, 2, family, 0, 1.0)
    again = draw_truth(table, binary, 2, family, 0, 1.0)
    np.testing.assert_array_equal(drawn, again)
    scale = high - low
    np.testing.assert_allclose(drawn.mean(axis=0), users.mean(axis=0), atol=0.15 * scale)
    known = sizes == 60
    assert np.abs(drawn - users)[known].mean() < 0.2 * scale
    if binary:
        assert (drawn > 0).all()
        assert (drawn < 1).all()
