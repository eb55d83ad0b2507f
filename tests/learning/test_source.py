"""Logs in files and in memory: found, read, refused."""

import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.learning.helpers import COLUMNS, EXPECTED, GOOD, LOGS, assert_same, refused

from lobandits.learning import reward_table

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


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


def test_a_column_that_one_of_several_files_lacks(tmp_path: Path) -> None:
    pl.DataFrame(GOOD).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame(GOOD).drop("reward").write_parquet(tmp_path / "b.parquet")
    assert "is empty or no finite number in 5 rows" in refused(tmp_path)


def test_bad_rows_in_several_files(tmp_path: Path) -> None:
    pl.DataFrame(GOOD).write_csv(tmp_path / "a.csv")
    pl.DataFrame(GOOD | {"reward": [1.0, 2.0, None, 4.0, 5.0]}).write_csv(tmp_path / "b.csv")
    message = refused(tmp_path / "*.csv")
    assert "in 1 row: (user=2, arm='a', reward=None)" in message


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
