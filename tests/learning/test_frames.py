"""Tables in memory: whichever library they are of, and columns that are no logs."""

import uuid

import pandas as pd
import polars as pl
import pyarrow as pa
from tests.learning.helpers import COLUMNS, EXPECTED, GOOD, LOGS, assert_same, refused

from lobandits.learning import reward_table


def test_frames() -> None:
    for logs in (LOGS, LOGS.lazy(), LOGS.to_arrow(), LOGS.to_pandas()):
        assert_same(reward_table(logs, **COLUMNS), EXPECTED)


def test_columns_of_categories_text_and_other_widths() -> None:
    pandas = LOGS.to_pandas()
    pandas["genre"] = pandas["genre"].astype("category")
    pandas["userId"] = pandas["userId"].astype("int16")
    assert_same(reward_table(pandas, **COLUMNS), EXPECTED)
    polars = LOGS.with_columns(
        pl.col("genre").cast(pl.Categorical), pl.col("rating").cast(pl.String)
    )
    assert_same(reward_table(polars, **COLUMNS), EXPECTED)


def test_other_columns_may_hold_anything() -> None:
    pandas = LOGS.to_pandas()
    pandas["note"] = [1 if i % 2 else "two" for i in range(len(pandas))]
    assert_same(reward_table(pandas, **COLUMNS), EXPECTED)


def test_users_that_are_uuids() -> None:
    users = [uuid.UUID(int=5), uuid.UUID(int=5), uuid.UUID(int=3)]
    logs = {"user": users, "arm": ["a", "b", "a"], "reward": [1, 2, 3]}
    table = reward_table(pd.DataFrame(logs))
    assert table.users.tolist() == [str(uuid.UUID(int=3)), str(uuid.UUID(int=5))]
    assert table.sums.tolist() == [[3, 0], [1, 2]]


def test_columns_that_are_numbers_in_pandas() -> None:
    logs = pd.DataFrame({0: [1, 1, 2], 1: ["a", "b", "a"], 2: [1, 2, 3], "x": [{}, 1, None]})
    assert reward_table(logs, "0", "1", "2").sums.tolist() == [[1, 2], [3, 0]]


def test_mixed_types() -> None:
    message = refused(pd.DataFrame(GOOD | {"reward": [None, 2.0, "bad", 4.0, 5.0]}))
    assert message == (
        "column 'reward' of the table: it mixes types, float in 3 rows, str in 1 row (the first "
        "is row 3, 'bad'); make it one type"
    )
    objects = pl.DataFrame(GOOD | {"user": pl.Series([1, "guest", 3, 4, 5], dtype=pl.Object)})
    assert "int in 4 rows, str in 1 row (the first is row 2, 'guest')" in refused(objects)
    same = pl.DataFrame(GOOD | {"user": pl.Series([{1}] * 5, dtype=pl.Object)})
    assert "column 'user' of the table: its values are neither numbers nor text" in refused(same)
    fixed = pa.table(GOOD | {"user": pa.array([b"ab"] * 5, pa.binary(2))})
    assert "column 'user' of the table: its values are neither" in refused(fixed)


def test_types_of_other_libraries() -> None:
    months = pd.period_range("2026-01", periods=5, freq="M")
    message = refused(pd.DataFrame(GOOD | {"arm": months}))
    assert "column 'arm' of the table: it holds" in message
    assert "neither numbers nor text" in message
