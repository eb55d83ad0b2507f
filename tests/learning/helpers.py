"""Logs for tests, and what their RewardTable must be."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from lobandits.errors import LobInputError
from lobandits.learning import GeneratedRatings, RewardTable, reward_table


def ratings(seed: int = 0, n_rows: int = 500) -> pl.DataFrame:
    """Return rows with whole users, text arms and half stars, in no order."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "userId": rng.integers(1, 40, n_rows) * 7,
            "genre": np.array(["Drama", "Comedy", "Film-Noir", "Été"])[
                rng.integers(4, size=n_rows)
            ],
            "rating": rng.integers(1, 11, n_rows) / 2,
        }
    )


def tabulate(logs: pl.DataFrame, user: str, arm: str, reward: str) -> RewardTable:
    """Add up the rows one by one."""
    users, arms = sorted(set(logs[user])), sorted(set(logs[arm]))
    counts = np.zeros((len(users), len(arms)), dtype=np.int64)
    sums, squares = np.zeros(counts.shape), np.zeros(counts.shape)
    for name, option, value in logs.select(user, arm, reward).iter_rows():
        cell = users.index(name), arms.index(option)
        counts[cell] += 1
        sums[cell] += value
        squares[cell] += value * value
    return RewardTable(np.array(users), tuple(map(str, arms)), counts, sums, squares)


def assert_same(table: RewardTable, other: RewardTable) -> None:
    """Compare bit by bit."""
    assert table.users.tolist() == other.users.tolist()
    assert table.arms == other.arms
    for field in ("counts", "sums", "squares", "means"):
        np.testing.assert_array_equal(getattr(table, field), getattr(other, field))


COLUMNS: dict[str, Any] = {"user": "userId", "arm": "genre", "reward": "rating"}

LOGS = ratings()
EXPECTED = tabulate(LOGS, "userId", "genre", "rating")
GOOD: dict[str, list[Any]] = {
    "user": [1, 1, 2, 2, 3],
    "arm": ["a", "b", "a", "b", "a"],
    "reward": [1.0, 2.0, 3.0, 4.0, 5.0],
}


def refused(logs: Any, *arguments: Any, **options: Any) -> str:
    """Return why the logs are refused."""
    with pytest.raises(LobInputError) as caught:
        reward_table(logs, *arguments, **options)
    return str(caught.value)


def with_values(name: str, values: list[Any]) -> pl.DataFrame:
    """Return good logs, but for one column."""
    return pl.DataFrame(GOOD | {name: values}, strict=False)


def in_half(ratings: GeneratedRatings) -> tuple[RewardTable, RewardTable]:
    """Return the tables of every other user, and of the rest."""
    table = reward_table(ratings.table, **COLUMNS)
    half = np.arange(table.n_users) % 2 == 0
    return table.take(half), table.take(~half)
