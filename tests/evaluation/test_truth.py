"""Truth drawn for judged users: from posteriors that they alone taught, under both families."""

import numpy as np
import pytest

import lobandits as lob
from lobandits.beliefs import Likelihood
from lobandits.evaluation.truth import (
    BOOTSTRAPS,
    FAMILIES,
    draw_players,
    evidence_of_states,
    problems_of,
)


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


@pytest.mark.parametrize("binary", [False, True])
def test_draws_are_users_like_the_true_ones(binary: bool) -> None:
    rng = np.random.default_rng(3)
    low, high = (0.1, 0.6) if binary else (1.0, 4.0)
    users = np.where(rng.random((800, 1)) < 0.5, [[high, low, low]], [[low, high, low]])
    sizes = np.where(rng.random(800) < 1 / 3, 3, 60)
    table = rewards_of(users, sizes, 4, binary)
    judged, teachers = table.take(np.arange(400)), table.take(np.arange(400, 800))
    model = lob.learn(teachers, n_states=2)
    assert model.likelihood.name == ("bernoulli" if binary else "gaussian")
    found, again = (draw_players(judged, teachers, model, 100, 0, n) for n in (1, 2))
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


def test_teachers_say_nothing_of_what_judged_users_like() -> None:
    """Truths rest on judged users; of teachers who like something else they take nothing."""
    rng = np.random.default_rng(6)
    liked, other = [[4.0, 1.0, 1.0]], [[1.0, 1.0, 4.0]]
    judged = rewards_of(np.repeat(liked, 60, axis=0), np.full(60, 4), 7, binary=False)
    teachers = rewards_of(np.repeat(other, 60, axis=0), np.full(60, 30), 8, binary=False)
    model = lob.learn(teachers, n_states=1, likelihood=lob.Gaussian(1.0))
    drawn = draw_players(judged, teachers, model, 20, int(rng.integers(9)))
    assert drawn.means.shape == (len(FAMILIES) * BOOTSTRAPS * 20, 3)
    np.testing.assert_allclose(drawn.means.mean(axis=0), liked[0], atol=0.5)
    assert not evidence_of_states(judged, teachers, model).any()  # one state was taught


@pytest.mark.parametrize(
    ("likelihood", "rewards"),
    [(lob.Gaussian(2.0), "gaussian"), (lob.Bernoulli(), "bernoulli"), (lob.Poisson(), "poisson")],
)
def test_players_are_rewarded_as_the_likelihood_says(likelihood: Likelihood, rewards: str) -> None:
    clicks = rewards_of(np.full((30, 3), 0.5), np.full(30, 9), 1, binary=True)
    model = lob.learn(clicks, n_states=1, likelihood=likelihood)
    problems = problems_of(np.full((2, 3), 0.5), model)
    assert problems.rewards == rewards
    assert problems.prior == model.prior
    assert problems.sigma == model.sigma
