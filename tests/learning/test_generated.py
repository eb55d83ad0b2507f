"""Generated ratings follow their planted orders, and depend on the seed alone."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.learning import generated
from lobandits.learning.generated import make_gaussian_ratings, make_ratings


def test_every_user_lives_by_the_order_of_a_state() -> None:
    ratings = make_ratings(n_users=200, n_arms=7, n_states=5, seed=3)
    assert ratings.orders.n_states == 5
    assert ratings.orders.is_total
    assert len(np.unique(ratings.orders.precedes, axis=0)) == 5
    assert set(ratings.states.tolist()) == set(range(5))
    for state, means in zip(ratings.states, ratings.means, strict=True):
        ranking = tuple(ratings.orders.arms[a] for a in np.argsort(-means))
        assert ratings.orders[state] == lob.PartialOrder.from_ranking(
            list(ranking), arms=ratings.orders.arms
        )
    assert len(np.unique(ratings.means.round(9))) == ratings.means.size


def test_ratings_have_the_means_and_the_noise_that_were_planted() -> None:
    ratings = make_ratings(n_users=50, n_arms=4, n_states=3, ratings_per_user=4000, sigma=0.5)
    table = lob.reward_table(ratings.table, "userId", "genre", "rating")
    assert table.arms == ratings.orders.arms
    assert table.users.tolist() == list(range(1, 51))
    tried = table.counts > 0
    error = (table.means - ratings.means)[tried] * np.sqrt(table.counts[tried]) / 0.5
    assert np.abs(error).max() < 5
    assert table.noise() == pytest.approx(0.5, abs=0.005)


def test_missing_is_the_share_of_arms_that_a_user_never_rates() -> None:
    ratings = make_ratings(n_users=500, n_arms=10, missing=0.3, ratings_per_user=500)
    table = lob.reward_table(ratings.table, "userId", "genre", "rating")
    share = (table.counts == 0).mean()
    assert share == pytest.approx(0.3, abs=4 * (0.21 / 5000) ** 0.5)
    none = make_ratings(n_users=50, n_arms=4, missing=0.0, ratings_per_user=500)
    assert (lob.reward_table(none.table, "userId", "genre", "rating").counts > 0).all()
    most = make_ratings(n_users=50, n_arms=4, missing=1.0, ratings_per_user=500)
    tried = lob.reward_table(most.table, "userId", "genre", "rating").counts > 0
    assert (tried.sum(axis=1) == 2).all()


def test_half_stars_keep_the_order() -> None:
    ratings = make_ratings(
        n_users=20, n_arms=4, n_states=3, ratings_per_user=20_000, missing=0.0, half_stars=True
    )
    values = ratings.table.column("rating").to_numpy()
    assert set(values.tolist()) == {i / 2 for i in range(1, 11)}
    table = lob.reward_table(ratings.table, "userId", "genre", "rating")
    np.testing.assert_array_equal(table.means.argsort(axis=1), ratings.means.argsort(axis=1))


def test_rows_depend_on_the_seed_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "BLOCK_ROWS", 1000)
    short, long = (make_ratings(n_users=n, ratings_per_user=30, seed=5) for n in (50, 120))
    assert short.table.equals(long.table[: 50 * 30])
    assert short.table.equals(make_ratings(n_users=50, ratings_per_user=30, seed=5).table)
    np.testing.assert_array_equal(short.states, long.states[:50])
    np.testing.assert_array_equal(short.means, long.means[:50])
    other = make_ratings(n_users=50, ratings_per_user=30, seed=6)
    assert not short.table.equals(other.table)
    assert short.orders != other.orders


def test_writing_streams_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generated, "BLOCK_ROWS", 1000)
    ratings = make_ratings(n_users=100, ratings_per_user=40)
    assert ratings.n_rows == 4000
    file = ratings.write(tmp_path / "ratings.parquet")
    assert pl.read_parquet(file).equals(pl.DataFrame(ratings.table))
    assert [child.name for child in tmp_path.iterdir()] == ["ratings.parquet"]


def test_many_arms_have_numbers_and_keep_their_order() -> None:
    ratings = make_ratings(n_users=30, n_arms=25, n_states=2)
    assert ratings.orders.arms == tuple(sorted(ratings.orders.arms))
    assert ratings.orders.arms[0] == "Genre 01"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_arms": 3, "n_states": 7}, "3 arms have only 6 orders"),
        ({"n_arms": 1}, "n_arms must be a whole number of at least 2"),
        ({"n_users": 0}, "n_users must be"),
        ({"missing": 1.5}, "missing must lie between 0 and 1"),
        ({"scale": (0.0, 1.0)}, "scale must be positive"),
        ({"shift": (2.0, 1.0)}, r"shift must be \(low, high\)"),
        ({"shift": 2.0}, r"shift must be \(low, high\)"),
        ({"sigma": -1}, "sigma must not be negative"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(LobInputError, match=words):
        make_ratings(**options)


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match=r"to a \.parquet or \.csv file"):
        make_ratings(n_users=2).write(tmp_path / "ratings.xls")
    with pytest.raises(LobInputError, match="cannot write"):
        make_ratings(n_users=2).write(tmp_path / "none" / "ratings.parquet")


def test_users_without_states_are_one_gaussian() -> None:
    """Levels of arms, shifts of users, and a spread of which half is shared by factors."""
    ratings = make_gaussian_ratings(20_000, 5, ratings_per_user=2, shift=0.5, spread=0.4, seed=2)
    np.testing.assert_allclose(ratings.means.mean(axis=0), ratings.levels, atol=0.02)
    shared = ratings.loadings @ ratings.loadings.T
    expected = 0.5**2 + 0.4**2 * (shared + np.eye(5)) / 2
    np.testing.assert_allclose(np.cov(ratings.means.T), expected, atol=0.02)
    assert ratings.table.num_rows == 40_000
    few = make_gaussian_ratings(50, 5, ratings_per_user=2, seed=2)
    np.testing.assert_array_equal(few.means, ratings.means[:50])
