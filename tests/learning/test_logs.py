"""The same logs from anywhere give the same table."""

from pathlib import Path

import ibis
import numpy as np
import polars as pl
import pytest
from tests.learning.helpers import COLUMNS, assert_same, ratings, tabulate

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


def test_an_unknown_kind_of_logs() -> None:
    for logs in (None, 3, [[1, 2, 3]], {"user": [1]}):
        with pytest.raises(LobInputError, match=r"logs of type .* are unknown; give a path"):
            reward_table(logs)
