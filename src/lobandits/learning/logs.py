"""Logs of any kind to RewardTable: files and frames here, others where they are."""

import os
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from lobandits._words import counted
from lobandits.errors import LobInputError
from lobandits.learning.aggregate import Names, aggregate, check_cells
from lobandits.learning.frames import open_frame
from lobandits.learning.log_files import as_text, as_written, open_files
from lobandits.learning.pivot import pivot
from lobandits.learning.source import Source, check_columns
from lobandits.learning.table import RewardTable

if TYPE_CHECKING:
    import ibis
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Logs = Union[
    str, os.PathLike[str], list[str], RewardTable,
    "pd.DataFrame", "pl.DataFrame", "pl.LazyFrame", "pa.Table", "ibis.Table",
]  # fmt: skip


def reward_table(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
) -> RewardTable:
    """Return the number, sum and sum of squares of each user's rewards from each arm.

    Files and frames are aggregated by an embedded DuckDB; a table of another engine (Spark,
    BigQuery, Postgres, ...) stays there, and only the aggregate comes back.

    Parameters
    ----------
    logs
        One row for each reward: a CSV or Parquet file, a folder, glob or list of such files; a
        pandas, polars or Arrow table; an ibis table of any engine; or a RewardTable.
    user, arm, reward
        Names of the columns. Users and arms are numbers or text. Rewards are numbers, or text
        that reads as numbers.
    min_user_rewards, min_arm_rewards
        See `RewardTable.filter`.

    Examples
    --------
    >>> import polars as pl
    >>> logs = {"user": [7, 7, 7, 8], "arm": ["x", "x", "y", "y"], "reward": [3, 4, 1, 5]}
    >>> table = reward_table(pl.DataFrame(logs))
    >>> table.users, table.arms
    (array([7, 8]), ('x', 'y'))
    >>> table.means
    array([[3.5, 1. ],
           [nan, 5. ]])
    """
    table = read_logs(logs, user, arm, reward)
    _check_enough(table, user, arm)
    kept = table.filter(min_user_rewards, min_arm_rewards)
    if kept is not table:
        left = (
            f" left, of arms with at least {min_arm_rewards} rewards (min_arm_rewards) and users "
            f"with at least {min_user_rewards} (min_user_rewards)"
        )
        _check_enough(kept, user, arm, left)
    return kept


def _check_enough(table: RewardTable, user: str, arm: str, left: str = "") -> None:
    """Refuse what no order can be learned from: one user, one arm, or an arm nobody tried."""
    few = table.users[:2].tolist()
    for names, noun, column in ((few, "user", user), (table.arms, "arm", arm)):
        if len(names) < 2:
            only = f", {names[0]!r}" if names else ""
            raise LobInputError(
                f"column {column!r} has {counted(len(names), noun)}{only}{left}; learning orders "
                f"needs at least two {noun}s"
            )
    untried = np.flatnonzero(~table.counts.any(axis=0))
    if untried.size:
        raise LobInputError(
            f"nobody tried the arm {table.arms[untried[0]]!r}; drop it with table.filter()"
        )


def read_logs(logs: Logs, user: str, arm: str, reward: str) -> RewardTable:
    """Return the table of all users and arms in the logs, even if there is only one."""
    if isinstance(logs, RewardTable):
        return logs
    names = (user, arm, reward)
    for name in names:
        if not isinstance(name, str):
            raise LobInputError(f"user, arm and reward must be names of columns, got {name!r}")
    if len(set(names)) < len(names):
        raise LobInputError(f"user, arm and reward must be three columns, got {', '.join(names)}")
    source = _open(logs, names)
    try:
        cells = source.fetch(aggregate(source.table, names))
    except LobInputError:
        if not source.guessed:
            raise
        # DuckDB took a CSV column's type from its first rows, and later ones differ.
        source = as_text(source)
        cells = source.fetch(aggregate(source.table, names))
    check_cells(source, cells, names)
    return pivot(cells, source.name, arm)


def _open(logs: Any, names: Names) -> Source:
    """Return logs of any kind as an ibis table that has the columns, each once."""
    import ibis

    paths = list(logs) if isinstance(logs, list | tuple) else [logs]
    if paths and all(isinstance(path, str | os.PathLike) for path in paths):
        source = open_files([os.fspath(path) for path in paths])
    elif isinstance(logs, ibis.Table):
        try:
            source = Source(logs, "the table", logs.get_backend(), embedded=False)
        except ibis.IbisError as error:
            raise LobInputError(f"the ibis table belongs to no engine: {error}") from error
    else:
        source = open_frame(logs, names)
    check_columns(source.table.columns, names, source.name)
    return as_written(source, *names) if source.guessed else source
