"""Users and arms of any type are sorted; too many or blank arms are refused."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.helpers import refused, with_values

from lobandits.learning import reward_table


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
