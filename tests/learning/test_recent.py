"""The recent part of logs, by a column of times of any kind."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.learning.helpers import GOOD, refused

from lobandits.learning import reward_table
from lobandits.learning.recent import Since

DAYS = [date(2026, 1, 1) + timedelta(days=day) for day in range(5)]
TIMES = [datetime(day.year, day.month, day.day, 12) for day in DAYS]


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
    assert "give both" in refused(logs, since="2026-01-01")
    assert "give both" in refused(logs, time="time")
    assert "has no column 'time'" in refused(logs, time="time", since="2026-01-01")
    table = reward_table(logs)
    assert "a RewardTable has no times" in refused(table, time="time", since="2026-01-01")
