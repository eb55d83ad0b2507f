"""Rewards of any type are added up; bad rows are counted, shown and refused."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.learning.helpers import GOOD, assert_same, refused, with_values

from lobandits.learning import RewardTable, learn, reward_table
from lobandits.learning.aggregate import Since

DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(5)]
TIMES = [datetime(day.year, day.month, day.day, 12) for day in DAYS]


@pytest.mark.parametrize("rewards", [[1, 0, 1], [True, False, True], ["1", "0", " 1.0"]])
def test_rewards_of_any_type_are_numbers(rewards: list[object]) -> None:
    table = reward_table(pl.DataFrame({"user": [1, 2, 3], "arm": list("aba"), "reward": rewards}))
    assert table.sums.tolist() == [[1, 0], [0, 0], [1, 0]]


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


@pytest.mark.parametrize("bad", [None, float("nan"), float("inf"), -float("inf")])
def test_rewards_that_are_no_numbers(bad: float | None) -> None:
    logs = with_values("reward", [1.0, bad, 3.0, 4.0, 5.0])
    expected = (
        "column 'reward' of the table is empty or no finite number in 1 row: "
        f"row 2 (user=1, arm='b', reward={bad!r}). Correct or leave out such rows"
    )
    if bad is None or bad != bad:
        expected += "; skip_empty (--skip-empty) skips rows without a reward"
    assert refused(logs) == expected
    assert refused(logs.to_arrow()) == expected


def test_all_columns_with_gaps_are_in_one_message() -> None:
    gaps = {
        "user": [None, 1, 2, 2, 3],
        "arm": ["a", None, "a", "b", "a"],
        "reward": [1, 2, None, 4, 5],
    }
    message = refused(pl.DataFrame(gaps))
    assert message.startswith("column 'user' of the table is empty in 1 row: row 1 (")
    assert "; column 'arm' of the table is empty in 1 row: row 2 (" in message
    assert (
        "; column 'reward' of the table is empty or no finite number in 1 row: row 3 (" in message
    )


@pytest.mark.parametrize("empty", [None, float("nan")])
def test_rows_without_a_reward_are_skipped_and_counted(empty: float | None) -> None:
    logs = with_values("reward", [1.0, empty, 3.0, 4.0, empty])
    table = reward_table(logs, skip_empty=True)
    assert (table.skipped, table.n_rewards) == (2, 3)
    assert table.users.tolist() == [1, 2]  # user 3 has no reward
    assert_same(table, reward_table(pl.DataFrame(GOOD)[[0, 2, 3]]))
    assert reward_table(pl.DataFrame(GOOD), skip_empty=True).skipped == 0


def test_only_what_is_empty_is_skipped() -> None:
    logs = with_values("reward", ["1", " ", "n/a", "4", "5"])
    assert (
        reward_table(with_values("reward", ["1", " ", "3", "4", "5"]), skip_empty=True).skipped == 1
    )
    message = refused(logs, skip_empty=True)
    assert message == (
        "column 'reward' of the table is no finite number in 1 row: row 3 (user=2, arm='a', "
        "reward='n/a'). Correct or leave out such rows"
    )
    assert "has no reward at all" in refused(with_values("reward", [""] * 5), skip_empty=True)


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


def recent(times: list[Any], since: Since) -> int:
    """Return how many rewards count."""
    return reward_table(pl.DataFrame(GOOD | {"time": times}), time="time", since=since).n_rewards


@pytest.mark.parametrize(
    "since", ["2026-01-03", date(2026, 1, 3), datetime(2026, 1, 3), "2026-01-03T12:00"]
)
def test_times_and_dates(since: Since) -> None:
    assert recent(TIMES, since) == 3
    assert recent([str(time) for time in TIMES], since) == 3
    aware = [time.replace(tzinfo=UTC) for time in TIMES]
    assert recent(aware, since) == 3


def test_days() -> None:
    assert recent(DAYS, "2026-01-02") == 4


def test_numbers() -> None:
    assert recent([10, 20, 30, 40, 50], 30) == 3
    assert recent([10.5, 20, 30, 40, 50], "10.5") == 5


def test_files(tmp_path: Path) -> None:
    logs = pl.DataFrame(GOOD | {"time": TIMES, "seconds": [1, 2, 3, 4, 5]})
    path = tmp_path / "logs.csv"
    logs.write_csv(path)
    assert reward_table(str(path), time="time", since="2026-01-02").n_rewards == 4
    assert reward_table(str(path), time="seconds", since=2).n_rewards == 4


@pytest.mark.parametrize(
    ("times", "since", "words"),
    [
        (TIMES, "soon", "since must be a date or a time such as 2026-05-01"),
        (TIMES, "2027-01-01", "has no rows since 2027-01-01; the newest is of time 2026-01-05"),
        ([1, 2, 3, 4, 5], "2026-01-01", "holds numbers, so since must be a number"),
        (
            [*TIMES[:4], None],
            "2026-01-01",
            "column 'time' of the table is empty or no time in 1 row",
        ),
        (
            ["2026-01-01", "?", *map(str, DAYS[2:])],
            "2026-01-01",
            "is empty or no time in 1 row: row 2",
        ),
        ([True] * 5, "2026-01-01", "holds boolean; times are expected"),
    ],
)
def test_what_tells_no_time_is_refused(times: list[Any], since: Since, words: str) -> None:
    assert words in refused(pl.DataFrame(GOOD | {"time": times}), time="time", since=since)


def test_both_or_neither() -> None:
    logs = pl.DataFrame(GOOD)
    assert "give the column of times" in refused(logs, since="2026-01-01")
    assert "give the column of times" in refused(logs, time="time")
    assert "has no column 'time'" in refused(logs, time="time", since="2026-01-01")
    table = reward_table(logs)
    assert "a RewardTable has no columns, but time is" in refused(
        table, time="time", since="2026-01-01"
    )


DATED = {
    "user": [1, 1, 1, 2, 2],
    "arm": ["a", "a", "b", "a", "b"],
    "reward": [4.0, 1.0, 2.0, 3.0, 5.0],
    "time": [0, 20, 30, 10, 30],
}


def test_old_rows_weigh_less() -> None:
    table = reward_table(pl.DataFrame(DATED), time="time", half_life=10)
    np.testing.assert_allclose(table.counts, [[0.125 + 0.5, 1.0], [0.25, 1.0]])
    np.testing.assert_allclose(table.sums, [[0.5 + 0.5, 2.0], [0.75, 5.0]])
    np.testing.assert_allclose(table.squares, [[2.0 + 0.5, 4.0], [2.25, 25.0]])
    np.testing.assert_allclose(table.means, [[1.6, 2.0], [3.0, 5.0]])


def test_times_fade_by_a_span() -> None:
    frame = pl.DataFrame(DATED).with_columns(
        time=pl.datetime(2026, 5, 1) + pl.duration(days=pl.col("time"))
    )
    table = reward_table(frame, time="time", half_life="10d")
    np.testing.assert_allclose(table.counts, [[0.625, 1.0], [0.25, 1.0]])
    text = frame.with_columns(pl.col("time").dt.to_string("%Y-%m-%d"))
    again = reward_table(text, time="time", half_life="240h")
    np.testing.assert_allclose(again.sums, table.sums)


def test_a_prior_follows_recent_rows() -> None:
    """Users liked a, and like b now: with a half-life the prior knows it."""
    rng = np.random.default_rng(0)
    n = 4000
    time, arm = rng.integers(0, 100, n), rng.integers(0, 2, n)
    reward = rng.normal(size=n) + np.where((arm == 0) == (time < 60), 1.0, 0.0)
    rows = {"user": rng.integers(0, 50, n), "arm": arm, "reward": reward, "time": time}
    old = learn(pl.DataFrame(rows), n_states=1)
    new = learn(pl.DataFrame(rows), n_states=1, time="time", half_life=5)
    assert old.prior.means[0, 0] > old.prior.means[0, 1]
    assert new.prior.means[0, 1] > new.prior.means[0, 0] + 0.5
    assert 0.95 < new.sigma < 1.25  # a little large, as documented


def test_half_lives_that_do_not_fit_are_refused() -> None:
    frame = pl.DataFrame(DATED)
    assert "give the column of times" in refused(frame, half_life=3)
    assert "must be a number, got '3d'" in refused(frame, time="time", half_life="3d")
    dated = frame.with_columns(time=pl.date(2026, 5, 1))
    assert "span of time such as 12h" in refused(dated, time="time", half_life="3 years")
    assert "must be positive" in refused(frame, time="time", half_life=-1)
