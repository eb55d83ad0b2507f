"""The same expression on a real Spark session."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import polars as pl
import pytest
from tests.learning.helpers import COLUMNS, assert_same, ratings, tabulate

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.learning import reward_table

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
}
# PySpark 4 warns of pandas 3, and calls it by names that pandas will drop.
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    sql = pytest.importorskip("pyspark.sql", reason="the extra 'spark' is not installed")
    builder = sql.SparkSession.builder.master("local[1]").appName("lobandits tests")
    place = str(tmp_path_factory.mktemp("spark"))
    for key, value in {**SETTINGS, "spark.sql.warehouse.dir": place}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield ibis.pyspark.connect(session)
    session.stop()


def test_spark_and_duckdb_give_the_same_table(spark: Any, tmp_path: Path) -> None:
    logs = ratings(n_rows=2000)
    logs.write_parquet(tmp_path / "ratings.parquet")
    table = spark.read_parquet(tmp_path / "ratings.parquet")
    found = reward_table(table, **COLUMNS, min_user_rewards=35, min_arm_rewards=490)
    expected = tabulate(logs, "userId", "genre", "rating").filter(35, 490)
    assert 1 < expected.n_users < 39
    assert 1 < expected.n_arms < 4
    assert_same(found, expected)


def test_spark_and_duckdb_give_the_same_orders(spark: Any, tmp_path: Path) -> None:
    generated = lob.make_ratings(n_users=60, n_arms=5, n_states=3, ratings_per_user=80)
    logs = pl.DataFrame(generated.table).with_columns(pl.col("rating").round(1))
    logs.write_parquet(tmp_path / "logs.parquet")
    here = lob.learn(tmp_path / "logs.parquet", **COLUMNS, n_states=4)
    there = lob.learn(spark.read_parquet(tmp_path / "logs.parquet"), **COLUMNS, n_states=4)
    assert there.orders == here.orders
    assert there.users.tolist() == here.users.tolist()
    assert there.labels.tolist() == here.labels.tolist()


def test_spark_tells_of_bad_rows(spark: Any, tmp_path: Path) -> None:
    logs = pl.DataFrame({"user": [1, 1, 2], "arm": ["a", "b", "a"], "reward": ["1.5", "2", "none"]})
    logs.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(LobInputError) as caught:
        reward_table(spark.read_parquet(tmp_path / "bad.parquet"))
    assert str(caught.value) == (
        "column 'reward' of the table is empty or no finite number in 1 row: "
        "(user=2, arm='a', reward='none'). Correct or leave out such rows"
    )
