"""The same logs from anywhere give the same table, and what is no logs is refused."""

from pathlib import Path

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.learning.helpers import COLUMNS, EXPECTED, GOOD, LOGS, assert_same, refused, with_values

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, reward_table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def test_an_ibis_table_of_duckdb(tmp_path: Path) -> None:
    LOGS.write_parquet(tmp_path / "all.parquet")
    table = ibis.duckdb.connect().read_parquet(tmp_path / "all.parquet")
    assert_same(reward_table(table, **COLUMNS), EXPECTED)
    assert_same(reward_table(ibis.memtable(LOGS), **COLUMNS), EXPECTED)


def test_a_table_of_rewards_is_returned_as_it_is() -> None:
    assert reward_table(EXPECTED) is EXPECTED


def test_filters_drop_arms_first() -> None:
    table = reward_table(LOGS, **COLUMNS, min_user_rewards=12, min_arm_rewards=125)
    assert_same(table, EXPECTED.filter(12, 125))
    assert 0 < table.n_users < EXPECTED.n_users
    assert 1 < table.n_arms < EXPECTED.n_arms


def test_logs_from_anywhere_give_the_same_orders(tmp_path: Path) -> None:
    ratings = lob.make_ratings(n_users=80, n_arms=5, n_states=3, ratings_per_user=60)
    rounded = pl.DataFrame(ratings.table).with_columns((pl.col("rating") * 2).round() / 2)
    rounded.write_csv(tmp_path / "logs.csv")
    rounded.write_parquet(tmp_path / "logs.parquet")
    shuffled = rounded.sample(fraction=1.0, shuffle=True, seed=0)
    models = [
        lob.learn(logs, "userId", "genre", "rating", n_states=4)
        for logs in (
            tmp_path / "logs.csv",
            tmp_path / "logs.parquet",
            rounded,
            shuffled,
            rounded.to_pandas(),
            rounded.to_arrow(),
            ibis.memtable(shuffled),
        )
    ]
    for model in models:
        assert model.orders == models[0].orders
        assert model.labels.tolist() == models[0].labels.tolist()


def test_an_unknown_kind_of_logs() -> None:
    for logs in (None, 3, [[1, 2, 3]], {"user": [1]}):
        with pytest.raises(LobInputError, match=r"logs of type .* are unknown; give a path"):
            reward_table(logs)


def test_a_missing_column_names_those_that_are_there() -> None:
    for logs in (pl.DataFrame(GOOD), pd.DataFrame(GOOD), pa.table(GOOD), pl.LazyFrame(GOOD)):
        assert refused(logs, "user", "arm", "rewards") == (
            "the table has no column 'rewards'; did you mean 'reward'? "
            "The columns are user, arm, reward"
        )
    assert "has no column 'zzz'; The columns are" in refused(ibis.memtable(pa.table(GOOD)), "zzz")


def test_columns_must_be_three_names() -> None:
    assert "must be different columns, got user, user, reward" in refused(
        pl.DataFrame(GOOD), "user", "user"
    )
    assert "must be names of columns, got 3" in refused(pl.DataFrame(GOOD), 3)
    twice = pd.DataFrame(GOOD).set_axis(["user", "arm", "arm"], axis=1)
    assert "more than one column 'arm'; rename one" in refused(twice, "user", "arm", "user2")


def test_one_user_one_arm_and_no_rows() -> None:
    assert refused(with_values("user", [7] * 5)) == (
        "column 'user' has 1 user, 7; learning needs at least two users"
    )
    assert refused(with_values("arm", ["a"] * 5)) == (
        "column 'arm' has 1 arm, 'a'; learning needs at least two arms"
    )
    assert refused(pl.DataFrame(GOOD)[:0]) == "the table has no rows"


def test_filters_that_leave_too_little() -> None:
    message = refused(pl.DataFrame(GOOD), min_arm_rewards=3)
    assert message == (
        "column 'arm' has 1 arm, 'a' left, of arms with at least 3 rewards (min_arm_rewards) and "
        "users with at least 1 (min_user_rewards); learning needs at least two arms"
    )
    assert "has 0 users left, of arms" in refused(pl.DataFrame(GOOD), min_user_rewards=9)
    assert "min_user_rewards must be" in refused(pl.DataFrame(GOOD), min_user_rewards=0)


def test_an_arm_that_nobody_tried() -> None:
    counts = np.array([[1, 1, 0], [1, 1, 0]])
    table = RewardTable(np.array([1, 2]), ("a", "b", "c"), counts, counts * 1.0, counts * 1.0)
    assert refused(table) == "nobody tried the arm 'c'; drop it with table.filter()"
    assert reward_table(table.filter()).arms == ("a", "b")


def test_an_ibis_table_without_an_engine() -> None:
    table = ibis.table({"user": "int64", "arm": "string", "reward": "float64"}, name="nowhere")
    assert "the ibis table belongs to no engine" in refused(table)
