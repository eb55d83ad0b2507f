from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning import naive

import lobandits as lob
from lobandits.learning.kendall import distances, pair_signs, relation_signs

COLUMNS: Any = {"user": "userId", "arm": "genre", "reward": "rating"}


def relabelled(learned: lob.LatentOrders, planted: lob.LatentOrders) -> bool:
    """Whether both have the same states, perhaps with other numbers."""
    return learned.arms == planted.arms and set(learned) == set(planted)


def in_half(ratings: lob.GeneratedRatings) -> tuple[lob.RewardTable, lob.RewardTable]:
    table = lob.reward_table(ratings.table, **COLUMNS)
    half = np.arange(table.n_users) % 2 == 0
    return table.take(half), table.take(~half)


@pytest.mark.parametrize("centroid", ["mean", "borda"])
def test_enough_ratings_give_the_planted_orders(centroid: Any) -> None:
    ratings = lob.make_ratings(500, 10, 8, ratings_per_user=400, seed=2)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=8, centroid=centroid)
    assert relabelled(model.orders, ratings.orders)
    agree = [
        model.orders[s] == ratings.orders[t]
        for s, t in zip(model.labels, ratings.states, strict=True)
    ]
    assert np.mean(agree) > 0.99
    assert model.sigma == pytest.approx(1.0, rel=0.02)
    assert model.merged == 0


def test_few_ratings_come_near_the_planted_orders_on_new_users() -> None:
    ratings = lob.make_ratings(2000, 10, 8, ratings_per_user=30, seed=3)
    rest, held = in_half(ratings)
    model = lob.learn_orders(rest, n_states=8)
    planted = distances(pair_signs(held.means), relation_signs(ratings.orders.precedes))
    assert model.distances(held).min(axis=1).mean() <= 1.1 * planted.min(axis=1).mean()


def test_state_means_are_averages_of_imputed_means() -> None:
    ratings = lob.make_ratings(120, 6, 3, ratings_per_user=30, missing=0.3, seed=4)
    table = lob.reward_table(ratings.table, **COLUMNS)
    model = lob.learn_orders(table, n_states=3)
    filled = naive.impute(table.means)
    for s in range(model.orders.n_states):
        np.testing.assert_allclose(model.state_means[s], filled[model.labels == s].mean(axis=0))
    assert model.imputed_share == pytest.approx(np.isnan(table.means).mean())
    assert model.sizes.sum() == model.n_users == 120


def test_orders_are_those_of_the_state_means() -> None:
    ratings = lob.make_ratings(300, 8, 5, ratings_per_user=100, seed=5)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=5)
    assert lob.LatentOrders.from_means(model.state_means, model.orders.arms) == model.orders


def test_new_users_get_the_nearest_order() -> None:
    rest, held = in_half(lob.make_ratings(400, 7, 4, ratings_per_user=200, seed=6))
    model = lob.learn_orders(rest, n_states=4)
    labels = model.predict(held)
    rankings = np.array([order.ranking for order in model.orders])
    assert labels.tolist() == naive.assign(held.means, rankings)
    np.testing.assert_array_equal(model.predict(held.means), labels)
    np.testing.assert_array_equal(model.predict(rest), model.labels)
    np.testing.assert_array_equal(model.distances(held).argmin(axis=1), labels)


def test_arms_are_matched_by_name() -> None:
    ratings = lob.make_ratings(200, 5, 3, ratings_per_user=200, missing=0.0, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3)
    first, *_, last = model.orders.arms
    logs = pl.DataFrame({"userId": ["new", "new"], "genre": [last, first], "rating": [5.0, 1.0]})
    state = int(model.predict(logs, **COLUMNS)[0])
    means = np.full((1, 5), np.nan)
    means[0, [0, -1]] = 1.0, 5.0
    assert model.predict(means).tolist() == [state]
    with pytest.raises(lob.LobInputError, match="column 'genre': unknown arm 'Drame'"):
        model.predict(logs.with_columns(genre=pl.lit("Drame")), **COLUMNS)


def test_new_users_from_files(tmp_path: Path) -> None:
    ratings = lob.make_ratings(60, 5, 3, seed=7)
    model = lob.learn_orders(ratings.table, **COLUMNS, n_states=3)
    files = [str(ratings.write(tmp_path / "a.parquet"))]
    for logs in (files, files[0], tmp_path):
        np.testing.assert_array_equal(model.predict(logs, **COLUMNS), model.labels)


def test_who_tried_one_arm_gets_the_largest_state() -> None:
    model = lob.learn_orders(lob.make_ratings(200, 5, 3, seed=8).table, **COLUMNS, n_states=3)
    lone = np.full((2, 5), np.nan)
    lone[1, 2] = 3.0
    assert (model.predict(lone) == model.sizes.argmax()).all()


@pytest.mark.parametrize(
    ("means", "message"),
    [
        (np.zeros((2, 4)), r"means must have shape \(n_users, 5\), got \(2, 4\)"),
        (np.zeros(5), r"got \(5,\)"),
        ([[1.0, 2.0, np.inf, 1.0, 2.0]], r"means\[0, 2\] is inf"),
        ([["a", "b", "c", "d", "e"]], "means must be an array of numbers"),
    ],
)
def test_wrong_means_are_named(means: Any, message: str) -> None:
    model = lob.learn_orders(lob.make_ratings(50, 5, 2, seed=9).table, **COLUMNS, n_states=2)
    with pytest.raises(lob.LobInputError, match=message):
        model.predict(means)


def logs(**columns: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {"user": [1, 1, 2, 2, 3], "arm": list("xyxyx"), "reward": [1.0] * 5} | columns
    )


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (logs(), {"n_states": 3}, "n_states is 3, but only 2 of 3 users tried two arms"),
        (logs(), {"n_states": 0}, "n_states must be a whole number"),
        (logs(arm="x"), {}, "1 arm, 'x'"),
        (logs(user=1), {}, "1 user, 1"),
        (logs(), {"relations": "sure"}, "unknown relations 'sure'"),
        (
            logs(),
            {"n_states": 2, "relations": "confident", "level": 1.0},
            "level must lie strictly",
        ),
        (logs(), {"n_states": 2, "seed": -1}, "seed"),
        (logs(), {"n_states": 2, "centroid": "x"}, "unknown centroid 'x'"),
        (logs(), {"n_states": 2, "min_user_rewards": 9}, "min_user_rewards"),
    ],
)
def test_wrong_arguments_are_named(table: Any, options: Any, message: str) -> None:
    with pytest.raises(lob.LobInputError, match=message):
        lob.learn_orders(table, **options)


def test_shows_a_progress_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    lob.learn_orders(logs(), n_states=1, n_init=2, max_iter=5, progress=True)
    shown = capsys.readouterr().err
    assert "adding up rewards" in shown
    assert "100% of 10 iterations" in shown
