"""Logs of any kind to RewardTable: files and frames here, others where they are."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from lobandits.basics.words import counted
from lobandits.errors import LobInputError
from lobandits.learning.aggregate import (
    Since,
    aggregate,
    check_cells,
    faded,
    in_contexts,
    recent,
)
from lobandits.learning.source import (
    Source,
    as_text,
    as_written,
    check_columns,
    open_files,
    open_frame,
)
from lobandits.learning.table import RewardTable, pivot

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
    context: str | None = None,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    skip_empty: bool = False,
    time: str | None = None,
    since: Since | None = None,
    half_life: str | float | None = None,
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
    context
        The column of contexts, text or whole numbers: every arm is then an arm of its own in each
        context, named ``"context: arm"``.
    min_user_rewards, min_arm_rewards
        See `RewardTable.filter`.
    skip_empty
        Leave out rows without a reward, such as decisions that brought none, and count them in
        `RewardTable.skipped`. By default they are refused.
    time, since
        The column of times, and where the recent part begins: only rows from then on count. A
        date or a time such as "2026-05-01"; of a column of numbers, a number.
    half_life
        With ``time``: rows count half for every half-life that they are older than the newest, so
        that counts are weights. A span such as "30d" or "12h"; of a column of numbers, a number.

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
    table = read_logs(
        logs, user, arm, reward, context=context, skip_empty=skip_empty, time=time, since=since,
        half_life=half_life,
    )  # fmt: skip
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
                f"column {column!r} has {counted(len(names), noun)}{only}{left}; learning "
                f"needs at least two {noun}s"
            )
    untried = np.flatnonzero(~table.counts.any(axis=0))
    if untried.size:
        raise LobInputError(
            f"nobody tried the arm {table.arms[untried[0]]!r}; drop it with table.filter()"
        )


def read_logs(
    logs: Logs,
    user: str,
    arm: str,
    reward: str,
    *,
    context: str | None = None,
    skip_empty: bool = False,
    time: str | None = None,
    since: Since | None = None,
    half_life: str | float | None = None,
) -> RewardTable:
    """Return the table of all users and arms in the logs, even if there is only one."""
    if (time is None) != (since is None and half_life is None):
        raise LobInputError(
            f"time is {time!r}, since is {since!r} and half_life is {half_life!r}; give the column "
            "of times with where the recent part begins, or with a half-life, or none of them"
        )
    if isinstance(logs, RewardTable):
        for option, column in (("time", time), ("context", context)):
            if column is not None:
                raise LobInputError(
                    f"a RewardTable has no columns, but {option} is {column!r}; give the logs"
                )
        return logs
    names = (user, arm, reward)
    keys = (user, arm) if context is None else (user, arm, context)
    columns = (*keys, reward) if time is None else (*keys, reward, time)
    for name in columns:
        if not isinstance(name, str):
            raise LobInputError(f"user, arm and reward must be names of columns, got {name!r}")
    if len({*keys, reward}) < len(keys) + 1:
        raise LobInputError(
            f"users, arms, contexts and rewards must be different columns, got "
            f"{', '.join((*keys, reward))}"
        )

    def cells_of(source: Source) -> tuple[Source, Any]:
        if time is not None and since is not None:
            source = recent(source, time, since, columns)
        if time is not None and half_life is not None:
            source = faded(source, time, half_life, columns)
        if context is not None:
            source = in_contexts(source, arm, context, columns)
        return source, source.fetch(aggregate(source.table, names))

    source = open_logs(logs, keys, reward, columns)
    try:
        part, cells = cells_of(source)
    except LobInputError as error:
        if not source.guessed or error.__cause__ is None:
            raise
        # DuckDB took a CSV column's type from its first rows, and later ones differ.
        source = as_text(source)
        part, cells = cells_of(source)
    check_cells(part, cells, names, skip_empty)
    kept, skipped = _rewarded(cells)
    return pivot(kept, source.name, arm, skipped, faded=half_life is not None)


def _rewarded(cells: Any) -> tuple[Any, int]:
    """Return the cells that have rewards, and how many rows have none."""
    import pyarrow.compute as pc

    skipped = pc.sum(cells.column("empty")).as_py()
    return cells.filter(pc.greater(cells.column("counts"), 0)) if skipped else cells, skipped


def open_logs(logs: Any, keys: Sequence[str], reward: str, columns: Sequence[str]) -> Source:
    """Return logs of any kind as an ibis table that has the columns, each once."""
    source = open_table(logs, columns)
    return as_written(source, keys, reward) if source.guessed else source


def open_table(logs: Any, columns: Sequence[str]) -> Source:
    """Return a table of any kind as an ibis table that has the columns, each once."""
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
        source = open_frame(logs, columns)
    check_columns(source.table.columns, columns, source.name)
    return source
