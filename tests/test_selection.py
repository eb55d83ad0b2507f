from typing import Any

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.selection import StatesChoice

COLUMNS: Any = {"user": "userId", "arm": "genre", "reward": "rating"}


def choice(regrets: Any, grid: Any) -> StatesChoice:
    values = np.asarray(regrets, dtype=np.float64)
    return StatesChoice(np.array(grid), np.array(grid), values, values, values[0], 10)


def test_recommends_the_smallest_within_one_standard_error_of_the_best() -> None:
    best = np.array([1.0, 2.0, 3.0, 4.0])
    near, far = best + np.array([0.5, -0.4, 0.5, -0.4]), best + np.array([0.5, 0.4, 0.5, 0.4])
    assert choice([far, near, best], [2, 4, 8]).recommended == 4
    assert choice([far, far, best], [2, 4, 8]).recommended == 8
    assert choice([best, near, far], [2, 4, 8]).recommended == 2


@pytest.fixture(scope="module")
def found() -> lob.StatesChoice:
    ratings = lob.make_ratings(600, 8, 6, ratings_per_user=200, seed=1)
    return lob.choose_n_states(ratings.table, **COLUMNS, grid=[12, 1, 2, 6, 6], horizon=150)


def test_finds_about_the_planted_number_of_states(found: lob.StatesChoice) -> None:
    assert found.grid.tolist() == [1, 2, 6, 12]
    assert found.recommended in (6, 12)
    regret = {row["n_states"]: row["regret"] for row in found.table}
    distance = {row["n_states"]: row["distance"] for row in found.table}
    assert regret[6] < 0.5 * regret[1]
    assert distance[6] < 0.5 * distance[1]
    assert regret[6] < found.baseline.mean()


def test_table_averages_over_held_out_users(found: lob.StatesChoice) -> None:
    assert found.regrets.shape == found.distances.shape == (4, 150)
    assert found.baseline.shape == (150,)
    row = found.table[2]
    assert row["regret"] == found.regrets[2].mean()
    assert row["distance_error"] == found.distances[2].std(ddof=1) / np.sqrt(150)
    text = str(found)
    assert text.count("recommended") == 1
    assert "150 held-out users, 150 rounds" in text


def test_held_out_users_are_not_learned_from() -> None:
    """Their distance is that to orders of the others, which the same split reproduces."""
    table = lob.reward_table(
        lob.make_ratings(80, 5, 3, ratings_per_user=60, seed=2).table, **COLUMNS
    )
    found = lob.choose_n_states(table, grid=[3], held_out=20, horizon=5, seed=4)
    order = np.random.default_rng(4).permutation(80)
    held, rest = table.take(np.sort(order[:20])), table.take(np.sort(order[20:]))
    model = lob.learn_orders(rest, n_states=3, method="kendall", seed=4)
    np.testing.assert_array_equal(found.distances[0], model.distances(held).min(axis=1))


def test_an_arm_that_only_held_out_users_tried_is_left_out() -> None:
    order = np.random.default_rng(0).permutation(12)
    counts = np.ones((12, 4), dtype=np.int64)
    counts[order[3:], 3] = 0
    sums = np.random.default_rng(1).random((12, 4)) * counts
    table = lob.RewardTable(np.arange(12), tuple("abcd"), counts, sums, sums**2)
    found = lob.choose_n_states(table, grid=[2], horizon=5, sigma=1.0)
    assert found.regrets.shape == (1, 3)


def test_default_grid_has_ten_users_to_each_state() -> None:
    ratings = lob.make_ratings(60, 4, 3, ratings_per_user=30, seed=3)
    found = lob.choose_n_states(ratings.table, **COLUMNS, horizon=5, n_init=1)
    assert found.grid.tolist() == [1, 2, 4]


def test_users_who_tried_one_arm_make_no_states() -> None:
    several = logs(80).with_columns(reward=pl.Series(np.random.default_rng(0).random(160)))
    lone = pl.DataFrame({"user": np.arange(80, 400), "arm": "x", "reward": 1.0})
    found = lob.choose_n_states(pl.concat([several, lone]), sigma=1.0, horizon=5, n_init=1)
    assert found.grid.tolist() == [1, 2, 4]


def test_plot_draws_both_measures_and_the_recommendation(found: lob.StatesChoice) -> None:
    left, right = found.plot().axes
    assert left.get_ylabel() == "regret of lobTS after 150 rounds"
    assert right.get_ylabel() == "Kendall distance to the nearest order"
    assert [label.get_text() for label in left.get_xticklabels()] == ["1", "2", "6", "12"]


def logs(n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"user": np.repeat(np.arange(n), 2), "arm": ["x", "y"] * n, "reward": [1.0, 2.0] * n}
    )


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (3, {}, "at least 4 users, got 3"),
        (8, {}, "give sigma"),
        (8, {"sigma": 1.0, "grid": [2, 7]}, "grid asks for 7 states, but there are 6 users"),
        (8, {"sigma": 1.0, "grid": [2, 0]}, r"grid\[1\] must be a whole number"),
        (8, {"sigma": 1.0, "grid": []}, "grid must be a list"),
        (8, {"sigma": 1.0, "grid": 3}, "grid must be a list"),
        (8, {"sigma": 1.0, "held_out": 7}, "held_out must be a whole number of at most 6"),
        (8, {"sigma": -1.0}, "sigma must be positive"),
        (8, {"sigma": 1.0, "horizon": 0}, "horizon"),
    ],
)
def test_wrong_arguments_are_named(n: int, options: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.choose_n_states(logs(n), **options)


def test_shows_a_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    lob.choose_n_states(logs(8), grid=[1, 2], sigma=1.0, horizon=5, progress=True)
    shown = capsys.readouterr().err
    assert "adding up rewards" in shown
    assert "100% of 2 runs" in shown
