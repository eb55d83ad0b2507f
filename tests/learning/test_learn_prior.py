"""learn_prior finds what was planted, and nothing where nothing was."""

import numpy as np
import pytest

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.learning.prior import learn_prior
from lobandits.learning.table import RewardTable

MEANS = np.array([[5.0, 3, 1, 0, 2, 4], [0, 4, 2, 5, 1, 3], [2, 0, 5, 1, 4, 3]])
SHARES = np.array([0.5, 0.3, 0.2])


def table_of(means: FloatArray, sigma: float, rewards: int, seed: int) -> RewardTable:
    rng = np.random.default_rng(seed)
    n, k = means.shape
    arms = rng.integers(k, size=(n, rewards))
    values = np.take_along_axis(means, arms, 1) + sigma * rng.standard_normal(arms.shape)
    counts, sums, squares = np.zeros((n, k), int), np.zeros((n, k)), np.zeros((n, k))
    users = np.broadcast_to(np.arange(n)[:, None], arms.shape)
    np.add.at(counts, (users, arms), 1)
    np.add.at(sums, (users, arms), values)
    np.add.at(squares, (users, arms), values**2)
    return RewardTable(np.arange(n), tuple(f"arm {a}" for a in range(k)), counts, sums, squares)


def planted(n: int, seed: int) -> tuple[FloatArray, IntArray]:
    rng = np.random.default_rng(seed)
    states = rng.choice(3, size=n, p=SHARES)
    away = MEANS - MEANS.mean(axis=1, keepdims=True)
    own = 0.8 * rng.standard_normal((n, 1)) + 0.4 * rng.standard_normal((n, 6))
    return MEANS[states] + 0.25 * rng.standard_normal((n, 1)) * away[states] + own, states


def test_planted_states_shares_scales_and_shift_are_found() -> None:
    means, states = planted(900, seed=0)
    learned = learn_prior(table_of(means, 1.0, 40, seed=1))
    prior = learned.prior
    assert learned.curve is not None
    assert learned.curve.chosen == prior.n_states == 3
    match = [int(np.argmin(((prior.means - row) ** 2).sum(1))) for row in MEANS]
    assert sorted(match) == [0, 1, 2]
    n = 900 * SHARES
    np.testing.assert_array_less(
        abs(prior.shares[match] - SHARES), 3 * np.sqrt(SHARES * (1 - SHARES) / 900)
    )
    spread = np.sqrt(0.8**2 + 0.4**2 + (0.25 * 2.5) ** 2 + 0.15) / np.sqrt(n)
    assert (abs(prior.means[match] - MEANS).max(axis=1) < 4 * spread).all()
    np.testing.assert_array_less(abs(prior.scales[match] - 0.25), 4 * 0.25 / np.sqrt(2 * n))
    # what all arms share may stand in the shift or in the spread
    assert np.sqrt(prior.shift**2 + prior.spread.mean()) == pytest.approx(0.82, abs=0.08)
    assert np.sqrt(np.trace(prior.spread) / 6 - prior.spread.mean()) == pytest.approx(
        0.37, abs=0.08
    )
    assert prior.sigma == pytest.approx(1.0, abs=0.02)
    assert learned.sigma_from == "cells"
    assert (np.array(match)[states] == learned.labels).mean() > 0.97


@pytest.mark.parametrize("seed", range(2))
def test_noise_gets_one_state(seed: int) -> None:
    learned = learn_prior(table_of(np.zeros((200, 5)), 1.0, 20, seed))
    assert learned.curve is not None
    assert learned.prior.n_states == learned.curve.chosen == 1
    assert "chosen" in str(learned.curve)


def sparse_clicks(means: FloatArray, seed: int) -> RewardTable:
    """Return clicks on random arms; a third of the users left one to five."""
    rng = np.random.default_rng(seed)
    n, k = means.shape
    few = rng.random(n) < 1 / 3
    users = np.repeat(np.arange(n), np.where(few, rng.integers(1, 6, n), rng.integers(6, 60, n)))
    arms = rng.integers(k, size=len(users))
    clicks = (rng.random(len(users)) < means[users, arms]).astype(float)
    counts, sums = np.zeros((n, k), int), np.zeros((n, k))
    np.add.at(counts, (users, arms), 1)
    np.add.at(sums, (users, arms), clicks)
    return RewardTable(np.arange(n), tuple(f"arm {a}" for a in range(k)), counts, sums, sums)


def test_sparse_clicks_of_users_who_are_alike_get_one_state() -> None:
    rates = np.linspace(0.1, 0.4, 8)
    curve = learn_prior(sparse_clicks(np.tile(rates, (600, 1)), seed=0)).curve
    assert curve is not None
    assert (curve.chosen, curve.users_differ) == (1, False)


@pytest.mark.parametrize(("n", "k", "rewards"), [(4, 2, 2), (9, 3, 2), (30, 30, 3), (60, 4, 1)])
def test_tiny_logs_of_noise_show_nothing(n: int, k: int, rewards: int) -> None:
    """Also where no cell has repeats, and noise may look like opinions."""
    table = table_of(np.zeros((n, k)), 1.0, rewards, seed=0).filter()
    learned = learn_prior(table)
    assert learned.curve is not None
    assert (learned.curve.chosen, learned.curve.users_differ) == (1, False)


def test_sparse_clicks_of_two_types_get_two_states() -> None:
    rates = np.where(np.arange(8) < 4, [[0.5], [0.1]], [[0.1], [0.5]])
    learned = learn_prior(sparse_clicks(rates[np.arange(600) % 2], seed=0))
    assert learned.prior.n_states == 2
    assert (np.sort(learned.prior.means, axis=1).round(1) == [0.1] * 4 + [0.5] * 4).all()


def test_sigma_is_a_parameter_where_no_cell_has_repeats() -> None:
    means, _ = planted(400, seed=3)
    rng = np.random.default_rng(4)
    rewards = means + 0.5 * rng.standard_normal(means.shape)
    ones = np.ones(means.shape, int)
    table = RewardTable(np.arange(400), tuple("abcdef"), ones, rewards, rewards**2)
    learned = learn_prior(table, n_states=3)
    assert learned.sigma_from == "model"
    # noise and an arm's own spread look alike: only their sum is told
    own = np.trace(learned.prior.spread) / 6 - learned.prior.spread.mean()
    assert np.sqrt(learned.prior.sigma**2 + own) == pytest.approx(0.63, abs=0.1)


def test_results_depend_on_the_seed_alone() -> None:
    means, _ = planted(150, seed=5)
    table = table_of(means, 1.0, 20, seed=6)
    one, two = (learn_prior(table, n_states=2, workers=w, seed=3).prior for w in (1, 2))
    assert one == two


def test_the_number_chosen_gives_the_prior_of_that_number() -> None:
    means, _ = planted(150, seed=5)
    table = table_of(means, 1.0, 20, seed=6)
    auto = learn_prior(table)
    assert auto.prior == learn_prior(table, n_states=auto.prior.n_states).prior


def test_what_cannot_be_learned_is_refused() -> None:
    table = table_of(np.zeros((5, 3)), 1.0, 5, 0)
    with pytest.raises(LobInputError, match="only 5 users"):
        learn_prior(table, n_states=6)
    ones = np.ones((3, 2), int)
    with pytest.raises(LobInputError, match="all rewards are equal"):
        learn_prior(RewardTable(np.arange(3), ("a", "b"), ones, ones, ones), n_states=1)
