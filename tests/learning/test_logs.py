"""The same logs from anywhere give the same table."""

import uuid
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.learning.helpers import COLUMNS, assert_same, ratings, tabulate

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, reward_table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
LOGS = ratings()
EXPECTED = tabulate(LOGS, "userId", "genre", "rating")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("logs")
    LOGS.write_csv(place / "all.csv")
    LOGS.write_csv(place / "all.tsv", separator="\t")
    LOGS.write_parquet(place / "all.parquet")
    (place / "parts" / "deep").mkdir(parents=True)
    (place / "parts" / "_SUCCESS").touch()
    LOGS[:200].write_parquet(place / "parts" / "a.parquet")
    LOGS[200:].write_parquet(place / "parts" / "deep" / "b.parquet")
    return place


@pytest.mark.parametrize(
    "name", ["all.csv", "all.tsv", "all.parquet", "parts", "parts/**/*.parquet", "all.p*"]
)
def test_files_folders_and_globs(folder: Path, name: str) -> None:
    assert_same(reward_table(folder / name, **COLUMNS), EXPECTED)
    assert_same(reward_table(str(folder / name), **COLUMNS), EXPECTED)


def test_several_paths(folder: Path) -> None:
    paths = [str(folder / "parts" / "*.parquet"), str(folder / "parts" / "deep")]
    assert_same(reward_table(paths, **COLUMNS), EXPECTED)


def test_names_with_signs_of_globs_stand_for_themselves(tmp_path: Path) -> None:
    LOGS.write_csv(tmp_path / "a*[1]?.csv")
    LOGS.write_csv(tmp_path / "ab1c.csv")
    assert_same(reward_table(tmp_path / "a*[1]?.csv", **COLUMNS), EXPECTED)
    paths = [str(tmp_path / "ab1c.csv"), str(tmp_path / "ab*.csv")]
    assert_same(reward_table(paths, **COLUMNS), EXPECTED)


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


def test_an_ibis_table_of_duckdb(folder: Path) -> None:
    table = ibis.duckdb.connect().read_parquet(folder / "all.parquet")
    assert_same(reward_table(table, **COLUMNS), EXPECTED)
    assert_same(reward_table(ibis.memtable(LOGS), **COLUMNS), EXPECTED)


def test_a_table_of_rewards_is_returned_as_it_is() -> None:
    assert reward_table(EXPECTED) is EXPECTED


def test_filters_drop_arms_first() -> None:
    table = reward_table(LOGS, **COLUMNS, min_user_rewards=12, min_arm_rewards=125)
    assert_same(table, EXPECTED.filter(12, 125))
    assert 0 < table.n_users < EXPECTED.n_users
    assert 1 < table.n_arms < EXPECTED.n_arms


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        ([10, 9, 2], ("2", "9", "10")),
        ([True, False, True], ("False", "True")),
        ([2.5, 1.0, 2.0], ("1.0", "2.0", "2.5")),
        (["b", "B", "a b"], ("B", "a b", "b")),
    ],
)
def test_arms_of_any_type_are_sorted_and_named(arms: list[object], names: tuple[str, ...]) -> None:
    logs = pl.DataFrame({"user": ["u", "v", "w"], "arm": arms, "reward": [1, 2, 3]})
    table = reward_table(logs)
    assert table.arms == names
    assert table.users.tolist() == ["u", "v", "w"]
    assert table.n_rewards == 3


@pytest.mark.parametrize(
    ("kind", "users"),
    [
        (pl.Int16, [30_000, -30_000, 5]),
        (pl.Int32, [2_000_000_000, -2_000_000_000, 5]),
        (pl.Int64, [2**62, -(2**62), 0]),
        (pl.UInt64, [2**64 - 1, 0, 7]),
        (pl.Float64, [1.5, -1.0, 0.0]),
        (pl.String, ["ü", "z", "a"]),
        (pl.Date, [3, 2, 1]),
    ],
)
@pytest.mark.parametrize("copies", [1, 40_000])
def test_users_of_any_type_are_sorted(kind: Any, users: list[Any], copies: int) -> None:
    column = pl.Series(users * copies, dtype=kind)
    logs = pl.DataFrame({"user": column, "arm": [1, 2, 1] * copies, "reward": [1, 2, 3] * copies})
    table = reward_table(logs)
    assert table.users.tolist() == sorted(column[:3].to_list())
    rewards = dict(zip(column[:3].to_list(), [1, 2, 3], strict=True))
    for user, row in zip(table.users.tolist(), table.sums, strict=True):
        assert row.sum() == rewards[user] * copies


@pytest.mark.parametrize("rewards", [[1, 0, 1], [True, False, True], ["1", "0", " 1.0"]])
def test_rewards_of_any_type_are_numbers(rewards: list[object]) -> None:
    table = reward_table(pl.DataFrame({"user": [1, 2, 3], "arm": list("aba"), "reward": rewards}))
    assert table.sums.tolist() == [[1, 0], [0, 0], [1, 0]]


def test_a_csv_file_whose_later_rows_have_other_types(tmp_path: Path) -> None:
    rows = [f"{i % 500},{i % 3},{i % 7}" for i in range(30_000)]
    file = tmp_path / "late.csv"
    file.write_text("\n".join(["user,arm,reward", *rows, "guest,x,2.5"]))
    table = reward_table(file)
    assert table.n_users == 501
    assert table.arms == ("0", "1", "2", "x")
    assert table.n_rewards == 30_001


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        (["08:00", "12:30"], ("08:00", "12:30")),
        (["true", "false"], ("false", "true")),
        (["01/02/2026", "13/02/2026"], ("01/02/2026", "13/02/2026")),
        (["1", "2.50"], ("1", "2.50")),
        (["9", "10"], ("9", "10")),
        (["01", "1"], ("01", "1")),
        (["a > b; c", "ü 🎬"], ("a > b; c", "ü 🎬")),
    ],
)
def test_arms_in_a_csv_file_are_named_as_written(
    tmp_path: Path, arms: list[str], names: tuple[str, ...]
) -> None:
    rows = [f"{user},{arm},{user}.5" for user in (3, 20) for arm in arms]
    (tmp_path / "logs.csv").write_text("\n".join(["user,arm,reward", *rows]), encoding="utf-8")
    table = reward_table(tmp_path / "logs.csv")
    assert table.arms == names
    assert table.users.tolist() == [3, 20]
    assert table.sums.tolist() == [[3.5, 3.5], [20.5, 20.5]]


def test_long_numbers_of_users_stay_apart(tmp_path: Path) -> None:
    users = ["10000000000000000001", "10000000000000000002"]
    rows = [f"{user},{arm},1" for user in users for arm in "ab"]
    (tmp_path / "logs.csv").write_text("\n".join(["user,arm,reward", *rows]))
    assert reward_table(tmp_path / "logs.csv").users.tolist() == users


def test_whole_rewards_first_and_fractions_later(tmp_path: Path) -> None:
    rows = [f"{i % 500},{i % 3},{i % 7}" for i in range(30_000)]
    (tmp_path / "a.csv").write_text("\n".join(["user,arm,reward", *rows, "0,0,2.4"]))
    assert reward_table(tmp_path / "a.csv").sums.sum() % 1 == pytest.approx(0.4)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_with_other_types_and_columns(tmp_path: Path, suffix: str) -> None:
    first = pl.DataFrame({"user": [1, 1], "arm": ["a", "b"], "reward": [1, 2]})
    second = pl.DataFrame(
        {"note": ["x", "y"], "reward": [1.4, 2.6], "arm": ["a", "b"], "user": [2, 2]}
    )
    for number, logs in enumerate((first, second, first.with_columns(user=3))):
        getattr(logs, f"write_{suffix}")(tmp_path / f"{number}.{suffix}")
    for paths in (tmp_path, [str(tmp_path / f"{n}.{suffix}") for n in (1, 2, 0)]):
        assert reward_table(paths).sums.tolist() == [[1.0, 2.0], [1.4, 2.6], [1.0, 2.0]]


def test_folders_in_the_place_of_files(tmp_path: Path) -> None:
    for part in ("a.parquet", "b.parquet"):
        (tmp_path / part / "_temporary").mkdir(parents=True)
    LOGS[:200].write_parquet(tmp_path / "a.parquet" / "part-0.parquet")
    LOGS[200:].write_parquet(tmp_path / "b.parquet" / "part-0.parquet")
    LOGS.write_parquet(tmp_path / "b.parquet" / "_temporary" / "part-0.parquet")
    assert_same(reward_table(tmp_path, **COLUMNS), EXPECTED)
    assert_same(reward_table(tmp_path / "*.parquet", **COLUMNS), EXPECTED)


def test_users_that_are_uuids() -> None:
    users = [uuid.UUID(int=5), uuid.UUID(int=5), uuid.UUID(int=3)]
    logs = {"user": users, "arm": ["a", "b", "a"], "reward": [1, 2, 3]}
    table = reward_table(pd.DataFrame(logs))
    assert table.users.tolist() == [str(uuid.UUID(int=3)), str(uuid.UUID(int=5))]
    assert table.sums.tolist() == [[3, 0], [1, 2]]


def test_columns_that_are_numbers_in_pandas() -> None:
    logs = pd.DataFrame({0: [1, 1, 2], 1: ["a", "b", "a"], 2: [1, 2, 3], "x": [{}, 1, None]})
    assert reward_table(logs, "0", "1", "2").sums.tolist() == [[1, 2], [3, 0]]


def test_decimal_rewards_give_the_same_means_in_any_order() -> None:
    rng = np.random.default_rng(1)
    logs = pl.DataFrame(
        {
            "user": rng.integers(20, size=4000),
            "arm": rng.integers(3, size=4000),
            "reward": rng.integers(100, size=4000) / 10,
        }
    )
    tables: list[RewardTable] = [
        reward_table(logs.sample(fraction=1.0, shuffle=True, seed=seed)) for seed in range(5)
    ]
    assert any((t.sums != tables[0].sums).any() for t in tables)
    for table in tables:
        np.testing.assert_array_equal(table.means, tables[0].means)


def test_logs_from_anywhere_give_the_same_orders(tmp_path: Path) -> None:
    ratings = lob.make_ratings(n_users=80, n_arms=5, n_states=3, ratings_per_user=60)
    rounded = pl.DataFrame(ratings.table).with_columns(pl.col("rating").round(1))
    rounded.write_csv(tmp_path / "logs.csv")
    rounded.write_parquet(tmp_path / "logs.parquet")
    shuffled = rounded.sample(fraction=1.0, shuffle=True, seed=0)
    models = [
        lob.learn_orders(logs, "userId", "genre", "rating", n_states=4)
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
