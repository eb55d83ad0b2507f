"""Bad logs: the error names the column, the rows and the fix."""

from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, reward_table

GOOD: dict[str, list[Any]] = {
    "user": [1, 1, 2, 2, 3],
    "arm": ["a", "b", "a", "b", "a"],
    "reward": [1.0, 2.0, 3.0, 4.0, 5.0],
}


def refused(logs: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(LobInputError) as caught:
        reward_table(logs, *arguments, **options)
    return str(caught.value)


def with_values(name: str, values: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(GOOD | {name: values}, strict=False)


def test_a_missing_column_names_those_that_are_there() -> None:
    for logs in (pl.DataFrame(GOOD), pd.DataFrame(GOOD), pa.table(GOOD), pl.LazyFrame(GOOD)):
        assert refused(logs, "user", "arm", "rewards") == (
            "the table has no column 'rewards'; did you mean 'reward'? "
            "The columns are user, arm, reward"
        )
    assert "has no column 'zzz'; The columns are" in refused(ibis.memtable(pa.table(GOOD)), "zzz")


def test_columns_must_be_three_names() -> None:
    assert "must be three columns, got user, user, reward" in refused(
        pl.DataFrame(GOOD), "user", "user"
    )
    assert "must be names of columns, got 3" in refused(pl.DataFrame(GOOD), 3)
    twice = pd.DataFrame(GOOD).set_axis(["user", "arm", "arm"], axis=1)
    assert "more than one column 'arm'; rename one" in refused(twice, "user", "arm", "user2")


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), -float("inf")])
def test_rewards_that_are_no_numbers(bad: float | None) -> None:
    logs = with_values("reward", [1.0, bad, 3.0, 4.0, 5.0])
    expected = (
        "column 'reward' of the table is empty or no finite number in 1 row: "
        f"row 2 (user=1, arm='b', reward={bad!r}). Correct or leave out such rows"
    )
    assert refused(logs) == expected
    assert refused(logs.to_arrow()) == expected


def test_only_the_first_rows_are_shown() -> None:
    rewards = ["x", "2", "NA", "", "five"]
    message = refused(with_values("reward", rewards))
    assert "in 4 rows, the first: row 1 (user=1, arm='a', reward='x'); row 3" in message
    assert "five" not in message


@pytest.mark.parametrize("name", ["user", "arm"])
def test_missing_users_and_arms(name: str) -> None:
    values: list[Any] = [*GOOD[name][:4], None]
    message = refused(with_values(name, values))
    assert f"column {name!r} of the table is empty in 1 row: row 5 (" in message
    assert f"{name}=None" in message


def test_users_that_are_no_number() -> None:
    logs = with_values("user", [1.0, 2.0, float("nan"), 2.0, 3.0])
    assert "column 'user' of the table is empty in 1 row: row 3 (user=nan" in refused(logs)


@pytest.mark.parametrize("name", ["user", "arm", "reward"])
def test_columns_without_any_value(name: str) -> None:
    assert f"column {name!r} of the table is empty" in refused(with_values(name, [None] * 5))


def test_rows_of_another_engine_have_no_numbers() -> None:
    table = ibis.memtable(pl.DataFrame(GOOD | {"reward": [1.0, None, 3.0, 4.0, 5.0]}))
    assert "in 1 row: (user=1, arm='b', reward=None). Correct" in refused(table)


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


@pytest.mark.parametrize("name", ["user", "arm", "reward"])
def test_types_that_are_no_values(name: str) -> None:
    assert f"column {name!r} holds array<" in refused(with_values(name, [[1]] * 5))


def test_rewards_that_are_dates() -> None:
    days = pd.to_datetime(["2026-01-01"] * 5)
    message = refused(pd.DataFrame(GOOD | {"reward": days}))
    assert "column 'reward' holds timestamp" in message
    assert "rewards are numbers" in message


@pytest.mark.parametrize("large", [1e200, 1.7e308])
def test_rewards_too_large_to_square(large: float) -> None:
    message = refused(with_values("reward", [large] * 5))
    assert "column 'reward' of the table has rewards too large" in message


def test_one_user_one_arm_and_no_rows() -> None:
    assert refused(with_values("user", [7] * 5)) == (
        "column 'user' has 1 user, 7; learning orders needs at least two users"
    )
    assert refused(with_values("arm", ["a"] * 5)) == (
        "column 'arm' has 1 arm, 'a'; learning orders needs at least two arms"
    )
    assert refused(pl.DataFrame(GOOD)[:0]) == "the table has no rows"


def test_filters_that_leave_too_little() -> None:
    message = refused(pl.DataFrame(GOOD), min_arm_rewards=3)
    assert message == (
        "column 'arm' has 1 arm, 'a' left, of arms with at least 3 rewards (min_arm_rewards) and "
        "users with at least 1 (min_user_rewards); learning orders needs at least two arms"
    )
    assert "has 0 users left, of arms" in refused(pl.DataFrame(GOOD), min_user_rewards=9)
    assert "min_user_rewards must be" in refused(pl.DataFrame(GOOD), min_user_rewards=0)


def test_an_arm_that_nobody_tried() -> None:
    counts = np.array([[1, 1, 0], [1, 1, 0]])
    table = RewardTable(np.array([1, 2]), ("a", "b", "c"), counts, counts * 1.0, counts * 1.0)
    assert refused(table) == "nobody tried the arm 'c'; drop it with table.filter()"
    assert reward_table(table.filter()).arms == ("a", "b")


def test_blank_arms() -> None:
    message = refused(with_values("arm", ["a", " ", "a", "b", "a"]))
    assert message == (
        "column 'arm' of the table: arms[0] is ' '; an arm name must not be blank. "
        "Correct or leave out such rows"
    )


def test_far_too_many_arms() -> None:
    many = np.arange(25_000)
    logs = pl.DataFrame({"user": many, "arm": many, "reward": many})
    assert "25,000 users and 25,000 arms, more than" in refused(logs)
    assert "is 'arm' the column of arms?" in refused(logs)


def test_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(GOOD).write_csv("ratings.csv")
    assert "there is no file rating.csv; did you mean 'ratings.csv'?" in refused("rating.csv")
    assert "no file matches logs/*.csv" in refused("logs/*.csv")
    (tmp_path / "empty").mkdir()
    assert "the folder empty holds no CSV or Parquet file" in refused("empty")
    Path("ratings.xls").write_text("x")
    assert "ratings.xls must end in .parquet, " in refused("ratings.xls")
    pl.DataFrame(GOOD).write_parquet("ratings.parquet")
    Path("ratings.xls").unlink()
    assert "ratings.csv and ratings.parquet are of two kinds" in refused("ratings.*")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("zero.csv", b"", "zero.csv is empty"),
        ("zero.parquet", b"", "zero.parquet is empty"),
        ("header.csv", b"user,arm,reward\n", "header.csv has no rows"),
        ("binary.csv", bytes(range(256)) * 40, "cannot read binary.csv, which is "),
        ("broken.parquet", b"PAR1" + bytes(100) + b"PAR1", "cannot read broken.parquet"),
        ("other.csv", b"movie,stars\n1,2\n", "has no column 'user'"),
        ("ragged.csv", b"user,arm,reward\n1,a,2\n2,b\n3,c,1\n", "line 3 has 2 fields, its header"),
        ("long.csv", b"user,arm,reward\n1,a,2\n2,b,3,4\n3,c,1\n", "line 3 has 4 fields"),
        ("latin.csv", "user,arm,reward\n1,é,2\n".encode("latin-1"), "utf-8 encoded.; save it as"),
        ("text.csv", b"user,arm,reward\n1,a,2\n2,b,bad\n", "row 2 (user=2, arm='b', reward='bad')"),
        ("hole.csv", b"user,arm,reward\n1,a,2\n2,b,\n", "row 2 (user=2, arm='b', reward=None)"),
        ("fake.csv.gz", b"user,arm,reward\n1,a,2\n", "cannot read fake.csv.gz, which is damaged"),
    ],
)  # fmt: skip
def test_damaged_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)
    assert words in refused(name)


def test_a_damaged_page_of_a_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "logs.parquet"
    rng = np.random.default_rng(0)
    pl.DataFrame(
        {
            "user": rng.integers(99, size=9999),
            "arm": rng.integers(9, size=9999),
            "reward": rng.random(9999),
        }
    ).write_parquet(file)
    content = bytearray(file.read_bytes())
    content[20:5000] = bytes(4980)
    file.write_bytes(content)
    assert f"cannot read {file}, which is damaged" in refused(file)
    file.write_bytes(content[:-300])
    assert f"cannot read {file}, which is damaged" in refused(file)


def test_a_late_bad_reward_in_a_csv_file(tmp_path: Path) -> None:
    rows = [f"{i % 500},{i % 3},{i % 7}" for i in range(30_000)]
    file = tmp_path / "late.csv"
    file.write_text("\n".join(["user,arm,reward", *rows, "8,1,n/a"]))
    assert refused(file) == (
        f"column 'reward' of {file} is empty or no finite number in 1 row: row 30001 (user='8', "
        "arm='1', reward='n/a'). Correct or leave out such rows"
    )


def test_an_ibis_table_without_an_engine() -> None:
    table = ibis.table({"user": "int64", "arm": "string", "reward": "float64"}, name="nowhere")
    assert "the ibis table belongs to no engine" in refused(table)


def test_types_of_other_libraries() -> None:
    months = pd.period_range("2026-01", periods=5, freq="M")
    message = refused(pd.DataFrame(GOOD | {"arm": months}))
    assert "column 'arm' of the table: it holds" in message
    assert "neither numbers nor text" in message


def test_a_column_that_one_of_several_files_lacks(tmp_path: Path) -> None:
    pl.DataFrame(GOOD).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(GOOD).drop("reward").write_parquet(tmp_path / "b.parquet")
    assert "is empty or no finite number in 5 rows" in refused(tmp_path)


def test_bad_rows_in_several_files(tmp_path: Path) -> None:
    pl.DataFrame(GOOD).write_csv(tmp_path / "a.csv")
    pl.DataFrame(GOOD | {"reward": [1.0, 2.0, None, 4.0, 5.0]}).write_csv(tmp_path / "b.csv")
    message = refused(tmp_path / "*.csv")
    assert "in 1 row: (user=2, arm='a', reward=None)" in message
