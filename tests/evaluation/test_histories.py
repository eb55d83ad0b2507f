"""Rewards in their order, from files and frames."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lobandits as lob
from lobandits.evaluation.histories import Histories, read_histories

ROWS = {
    "user": ["b", "a", "b", "a", "b"],
    "arm": ["x", "x", "y", "y", "x"],
    "reward": [1.0, 2.0, 3.0, None, 5.0],
    "day": [5, 4, 3, 2, 1],
    "chance": [0.5, 0.25, 0.5, 0.5, 0.75],
}
COLUMNS = ("user", "arm", "reward")


def read(logs: Any, **options: str) -> Histories:
    """Return the histories of everybody in the logs."""
    table = lob.reward_table(logs, skip_empty=True)
    found = read_histories(logs, table, COLUMNS, **options)
    assert isinstance(found, Histories)
    return found


@pytest.mark.parametrize("kind", ["frame", "csv", "parquet"])
def test_rewards_come_in_the_order_of_rows_or_times(kind: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(ROWS)
    logs: Any = frame
    if kind != "frame":
        logs = str(tmp_path / f"logs.{kind}")
        getattr(frame, f"write_{kind}")(logs)
    found = read(logs)
    assert found.first.tolist() == [0, 1, 4]
    assert found.rewards.tolist() == [2.0, 1.0, 3.0, 5.0]
    assert found.arms.tolist() == [0, 0, 1, 0]
    assert found.propensities is None
    timed = read(logs, time="day", propensity="chance")
    assert timed.rewards.tolist() == [2.0, 5.0, 3.0, 1.0]
    assert timed.propensities is not None
    assert timed.propensities.tolist() == [0.25, 0.75, 0.5, 0.5]


def test_some_users_and_their_residuals() -> None:
    found = read(pl.DataFrame(ROWS))
    twice = found.take(np.array([1, 1, 0]))
    assert twice.first.tolist() == [0, 3, 6, 7]
    assert twice.rewards.tolist() == [1.0, 3.0, 5.0, 1.0, 3.0, 5.0, 2.0]
    # user b tried x twice, 1 and 5 around 3, each stretched by sqrt(2)
    np.testing.assert_allclose(found.residuals(2), [-2 * 2**0.5, 2 * 2**0.5])


def test_no_sequence_and_wrong_propensities() -> None:
    frame = pl.DataFrame(ROWS).with_columns(chance=pl.Series([0.5, 0.0, 0.5, 0.5, 0.5]))
    table = lob.reward_table(frame, skip_empty=True)
    assert "not their sequence" in str(read_histories(table, table, COLUMNS))
    with pytest.raises(lob.LobInputError, match=r"'chance' holds 0\.0, but propensities lie above"):
        read_histories(frame, table, COLUMNS, propensity="chance")
