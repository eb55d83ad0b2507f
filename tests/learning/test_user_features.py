"""Features from columns of logs or a table of users; what is wrong is named with the column."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.planted import world

import lobandits as lob
from lobandits.learning.user_features import read_user_features


def rows() -> pl.DataFrame:
    """Logs of 60 users with an age, and a country that moves for user 3."""
    users = np.repeat(np.arange(60), 4)
    country = np.where(users % 2, "SE", "NO").astype(object)
    country[users == 3] = ["NO", "NO", "SE", "DK"]
    return pl.DataFrame(
        {
            "user": users,
            "arm": np.tile(["x", "y"], 120),
            "reward": np.random.default_rng(0).standard_normal(240),
            "age": 20.0 + users % 7,
            "country": country.tolist(),
            "day": np.tile([4, 3, 2, 1], 60),
        }
    )


def test_the_last_value_counts_by_row_or_by_time() -> None:
    table = lob.reward_table(rows())
    by_row = read_user_features(table, ["country", "age"], rows(), "user")
    assert by_row.features.names == ("country", "age")
    assert by_row.concerns == ("feature 'country' changes for 1 user; the last value counts",)
    assert not by_row.x[3, :2].any(), "DK is of too few users to be told apart"
    by_time = read_user_features(table, ["country"], rows(), "user", time="day")
    np.testing.assert_array_equal(by_time.x[3], by_time.x[0])


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_a_table_of_users_is_the_same_as_columns_of_the_logs(kind: str, tmp_path: Path) -> None:
    logs = rows().filter(pl.col("user") != 3)
    people: Any = logs.group_by("user").agg(pl.col("age").first(), pl.col("country").first())
    if kind == "csv":
        people.write_csv(tmp_path / "users.csv")
    elif kind == "parquet":
        people.write_parquet(tmp_path / "users.parquet")
    users = people if kind == "frame" else tmp_path / f"users.{kind}"
    table = lob.reward_table(logs)
    one = read_user_features(table, ["age", "country"], logs, "user")
    other = read_user_features(table, ["age", "country"], table, "user", users)
    assert other.features == one.features
    np.testing.assert_array_equal(other.x, one.x)


def test_users_without_features_are_counted() -> None:
    people = pl.DataFrame({"user": np.arange(30), "age": np.arange(30) % 5})
    known = read_user_features(lob.reward_table(rows()), ["age"], rows(), "user", people)
    assert known.concerns == ("30 of 60 users of the logs have no features",)
    assert known.features.columns == ("age", "age missing")


def test_what_follows_from_rewards_is_said() -> None:
    w = world(200, 6, 1, 0.0, seed=0)
    total = np.nan_to_num(w.table.means - np.nanmean(w.table.means, axis=0)).sum(axis=1)
    people = pl.DataFrame({"user": np.arange(200), "spent": total, "age": w.x[:, 0]})
    known = read_user_features(w.table, ["spent", "age"], w.table, "user", people)
    (sentence,) = known.concerns
    assert sentence.startswith("feature 'spent' foretells")
    assert "leave it out" in sentence


def test_learn_takes_features_and_keeps_them_in_the_file(tmp_path: Path) -> None:
    w = world(300, 5, 2, 0.4, seed=6)
    columns = {"user": np.repeat(w.table.users, 5), "arm": np.tile(w.table.arms, 300),
               "reward": np.where(w.table.counts, w.table.means, np.nan).ravel()}  # fmt: skip
    logs = pl.DataFrame(columns).filter(pl.col("reward").is_not_nan())
    people = pl.DataFrame({"user": w.table.users, "one": w.x[:, 0], "two": w.x[:, 1]})
    model = lob.learn(logs, features=["one", "two"], users=people, n_states=1)
    assert model.options["features"] == {"one": "number", "two": "number"}
    assert model.prior.features is not None
    assert model.prior.features.tell
    model.save(tmp_path / "model.json")
    again = lob.Model.load(tmp_path / "model.json")
    assert again.prior == model.prior
    assert again.options == model.options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": ["agee"]}, "has no column 'agee'; did you mean 'age'"),
        ({"features": ["reward"]}, "column 'reward' cannot be a feature"),
        ({"features": []}, "features is empty"),
        ({"features": "age"}, "must be a list of columns, got 'age'"),
        ({"users": 3}, "users was given without features"),
        ({"features": ["age:category", "day"]}, "feature 'day' has one value"),
        ({"features": {"country": "number"}}, "is to be a number, and has the value 'NO'"),
    ],
)
def test_bad_features_are_refused_with_the_column(options: Any, message: str) -> None:
    logs = rows().with_columns(day=pl.lit(1))
    with pytest.raises(lob.LobInputError, match=message):
        lob.learn(logs, **options)


def test_strangers_and_bare_tables_are_refused() -> None:
    table = lob.reward_table(rows())
    with pytest.raises(lob.LobInputError, match="a RewardTable has no columns of features"):
        lob.learn(table, features=["age"])
    people = pl.DataFrame({"user": ["ann"], "age": [3]})
    with pytest.raises(lob.LobInputError, match=r"none of the 60 users .* has 'ann'"):
        lob.learn(table, features=["age"], users=people)
