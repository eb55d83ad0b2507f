"""Truth drawn for judged users: posteriors by the textbook, populations found again."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.evaluation import truth
from lobandits.evaluation.truth import FAMILIES, JudgedRewards, draw_players, one_gaussian
from lobandits.learning.mixture import Parameters, log_evidence

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
    np.testing.assert_allclose(found.mean, mean, atol=0.12)
    np.testing.assert_allclose(found.covariance, covariance, atol=0.15)
    again = one_gaussian(JudgedRewards(table.counts, table.sums, np.ones(3), False), found, 5)
    np.testing.assert_allclose(again.covariance, found.covariance, atol=0.02)


def test_the_mean_of_a_rare_arm_is_as_unknown_as_its_rewards_say() -> None:
    rng = np.random.default_rng(5)
    counts = np.column_stack([np.full(300, 20), np.full(300, 20), np.arange(300) < 4])
    sums = counts * [1.0, 2.0, 3.0] + np.sqrt(counts) * rng.standard_normal((300, 3))
    found = one_gaussian(JudgedRewards(counts, sums, np.ones(3), False))
    told = sums[:4, 2].mean()
    error = np.sqrt(found.unknown[2, 2])
    assert abs(found.mean[2] - told) < 0.3 * error  # EM alone would hardly leave its start
    assert 0.4 < error < 0.7  # of four rewards: a half, and what users differ by
    assert np.sqrt(found.unknown[0, 0]) < 0.05


def test_states_are_drawn_with_the_chances_of_the_prior() -> None:
    means, spread = np.array([[3.0, 1, 2], [1.0, 3, 2]]), 0.3 * np.eye(3)
    prior = lob.Prior(ARMS, np.array([0.7, 0.3]), means, spread, 0.5, np.array([0.2, 0.4]), 1.0)
    counts, sums = np.array([[1, 1, 0]]), np.array([[2.1, 1.9, 0.0]])
    expected = prior.posterior(counts, sums)[0][0]
    n = 4000
    users = JudgedRewards(np.tile(counts, (n, 1)), np.tile(sums, (n, 1)), np.ones(3), False)
    shared = prior.spread + prior.shift**2
    population = truth._mixture(prior.shares, prior.means, shared, prior.scales)
    states = truth._states(users, population, np.random.default_rng(0))
    p = Parameters(prior.shares, prior.means, prior.spread, prior.shift, prior.scales, 1.0)
    log = truth.log_evidence(users, population)
    moved = users._replace(sums=users.sums + 0.1 * users.counts)
    exact = log_evidence(users.counts, moved.sums, p) - log_evidence(users.counts, users.sums, p)
    constant = (users.sums**2 - moved.sums**2)[0, :2].sum() / 2
    np.testing.assert_allclose(truth.log_evidence(moved, population) - log, exact - constant)
    error = np.sqrt(expected[0] * expected[1] / n)
    assert abs((states == 0).mean() - expected[0]) < 4 * error


@pytest.mark.parametrize("binary", [False, True])
def test_draws_are_users_like_the_true_ones(binary: bool) -> None:
    rng = np.random.default_rng(3)
    low, high = (0.1, 0.6) if binary else (1.0, 4.0)
    users = np.where(rng.random((800, 1)) < 0.5, [[high, low, low]], [[low, high, low]])
    sizes = np.where(rng.random(800) < 1 / 3, 3, 60)
    table = rewards_of(users, sizes, 4, binary)
    judged, teachers = table.take(np.arange(400)), table.take(np.arange(400, 800))
    model = lob.learn_orders(teachers, n_states=2)
    found = draw_players(judged, teachers, model, binary, 100, 0)
    again = draw_players(judged, teachers, model, binary, 100, 0)
    np.testing.assert_array_equal(found.means, again.means)
    assert (found.evidence.mean() / found.evidence.std()) * 20 > 4  # users are of two types
    scale, families = high - low, len(FAMILIES)
    true, known = users[found.who], sizes[found.who] == 60
    for drawn, meant, sure in zip(
        *(np.split(part, families) for part in (found.means, true, known)), strict=True
    ):
        np.testing.assert_allclose(drawn.mean(axis=0), meant.mean(axis=0), atol=0.15 * scale)
        assert np.abs(drawn - meant)[sure].mean() < 0.2 * scale
    if binary:
        assert (found.means > 0).all()
        assert (found.means < 1).all()
