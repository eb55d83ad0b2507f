"""Logs to RewardTable: one aggregation, wherever the logs are, which also shows their faults."""

import os
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from lobandits.errors import LobInputError
from lobandits.learning.sources import Source, open_logs, read_files, rows
from lobandits.learning.table import RewardTable, pivot
from lobandits.orders.arms import counted

if TYPE_CHECKING:
    import ibis
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Logs = Union[
    str, os.PathLike[str], list[str], RewardTable,
    "pd.DataFrame", "pl.DataFrame", "pl.LazyFrame", "pa.Table", "ibis.Table",
]  # fmt: skip
Names = tuple[str, str, str]  # the columns of users, arms and rewards
SHOWN = 3


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
    source = open_logs(logs, names)
    try:
        cells = source.fetch(_aggregate(source.table, names))
    except LobInputError:
        if not source.guessed:
            raise
        # DuckDB took a CSV column's type from its first rows, and later ones differ.
        source = read_files(source.files, source.name, all_varchar=True)
        cells = source.fetch(_aggregate(source.table, names))
    _check_cells(source, cells, names)
    return pivot(cells, source.name, arm)


def _aggregate(table: Any, names: Names) -> Any:
    """Return the ibis expression whose rows are the cells that have rewards.

    Faults ride along: missing users and arms are groups of their own, missing rewards make
    ``counts`` smaller than ``rows``, and others that are not finite spoil ``squares``.
    """
    user, arm = (_key(table[name]) for name in names[:2])
    chosen = table.select(user=user, arm=arm, reward=_number(table[names[2]]))
    return chosen.group_by("user", "arm").aggregate(
        rows=chosen.count(),
        counts=chosen.reward.count(),
        sums=chosen.reward.sum(),
        squares=(chosen.reward * chosen.reward).sum(),
    )


def _key(column: Any) -> Any:
    kind = column.type()
    if kind.is_nested() or kind.is_binary() or kind.is_geospatial() or kind.is_json():
        raise LobInputError(
            f"column {column.get_name()!r} holds {kind}; users and arms are text or numbers"
        )
    return column


def _number(column: Any) -> Any:
    """Return the column of rewards as numbers; text that reads as none is missing."""
    kind = column.type()
    if kind.is_string():
        return column.strip().try_cast("float64")  # a bare try_cast of a CSV's column would fail
    if kind.is_boolean():
        return column.cast("int8").cast("float64")
    if kind.is_numeric() or kind.is_null():
        return column.cast("float64")
    raise LobInputError(f"column {column.get_name()!r} holds {kind}; rewards are numbers")


def _check_cells(source: Source, cells: Any, names: Names) -> None:
    """Refuse the logs behind these cells if any row is faulty; only then look for the rows."""
    import pyarrow.compute as pc

    if not len(cells):
        raise LobInputError(f"{source.name} has no rows")
    *keys, reward = names
    for field, name in zip(("user", "arm"), keys, strict=True):
        if pc.any(pc.is_null(cells.column(field), nan_is_null=True)).as_py():
            _refuse(source, _missing(source.table[name]), name, "empty", names)
    found, counts, squares = (cells.column(field) for field in ("rows", "counts", "squares"))
    if counts != found or not pc.all(pc.is_finite(squares)).as_py():
        value = _number(source.table[reward])
        bad = _missing(value) | value.isinf()
        _refuse(source, bad, reward, "empty or no finite number", names)
        raise LobInputError(
            f"column {reward!r} of {source.name} has rewards too large to be squared and added; "
            "divide them all by some number"
        )


def _missing(column: Any) -> Any:
    return column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()


def _refuse(source: Source, bad: Any, name: str, what: str, columns: Names) -> None:
    """Raise the error that counts the bad rows and shows the first, if there are any."""
    import ibis

    numbered = source.embedded and len(source.files) <= 1
    marked = source.table.select(*columns, bad=bad, row=ibis.row_number() + 1 if numbered else 0)
    faulty = marked.filter(marked.bad)
    number = source.fetch(faulty.aggregate(n=faulty.count())).column("n")[0].as_py()
    if not number:
        return
    first = source.fetch((faulty.order_by("row") if numbered else faulty).limit(SHOWN))
    shown = []
    for row in first.to_pylist():
        values = ", ".join(f"{column}={row[column]!r}" for column in columns)
        shown.append(f"row {row['row']} ({values})" if numbered else f"({values})")
    more = ", the first" if number > SHOWN else ""
    raise LobInputError(
        f"column {name!r} of {source.name} is {what} in {rows(number)}{more}: {'; '.join(shown)}. "
        "Correct or leave out such rows"
    )
