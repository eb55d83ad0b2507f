"""Logs to RewardTable: one aggregation, wherever the logs are."""

import os
from typing import TYPE_CHECKING, Any, Union

import numpy as np
from numpy.typing import NDArray

from lobandits.errors import LobInputError
from lobandits.learning.faults import check_cells, check_enough, check_names, key, number
from lobandits.learning.sources import open_logs, read_files
from lobandits.learning.table import RewardTable
from lobandits.orders.arms import arm_names

if TYPE_CHECKING:
    import ibis
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Logs = Union[
    str, os.PathLike[str], RewardTable,
    "pd.DataFrame", "pl.DataFrame", "pl.LazyFrame", "pa.Table", "ibis.Table",
]  # fmt: skip

MOST_CELLS = 2**29


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

    The aggregation is one ibis expression. Files and frames run on an embedded DuckDB; a table
    of another engine (Spark, BigQuery, Postgres, ...) stays there, and only the aggregate comes
    back.

    Parameters
    ----------
    logs
        One row for each reward: a CSV or Parquet file, a folder or glob of such files; a pandas,
        polars or Arrow table; an ibis table of any engine; or a RewardTable, which is filtered.
    user, arm, reward
        Names of the columns. Users and arms are numbers or text. Rewards are numbers, or text
        that reads as numbers.
    min_user_rewards, min_arm_rewards
        Drop arms with fewer rewards, then users with fewer rewards from the arms left (as the
        paper does; once each), then arms that no user left has tried.

    Examples
    --------
    >>> import polars as pl
    >>> logs = pl.DataFrame({"user": [7, 7, 7, 8], "arm": ["x", "x", "y", "y"],
    ...                      "reward": [3.0, 4.0, 1.0, 5.0]})
    >>> table = reward_table(logs)
    >>> table.users, table.arms
    (array([7, 8]), ('x', 'y'))
    >>> table.means
    array([[3.5, 1. ],
           [nan, 5. ]])
    """
    table = read_logs(logs, user, arm, reward)
    check_enough(table, user, arm)
    kept = table.filter(min_user_rewards, min_arm_rewards)
    if kept is not table:
        check_enough(kept, user, arm, (min_user_rewards, min_arm_rewards))
    return kept


def read_logs(logs: Logs, user: str, arm: str, reward: str) -> RewardTable:
    """Return the table of all users and arms in the logs, even if there is only one."""
    if isinstance(logs, RewardTable):
        return logs
    names = check_names(user, arm, reward)
    source = open_logs(logs, names)
    try:
        cells = source.fetch(aggregate(source.table, *names))
    except LobInputError:
        if not source.guessed:
            raise
        # DuckDB took a CSV column's type from its first rows, and later ones differ.
        source = read_files(source.files, source.name, all_varchar=True)
        cells = source.fetch(aggregate(source.table, *names))
    check_cells(source, cells, *names)
    return _pivot(cells, source.name, arm)


def aggregate(table: Any, user: str, arm: str, reward: str) -> Any:
    """Return the ibis expression whose rows are the cells that have rewards.

    Faults ride along: missing users and arms are groups of their own, missing rewards make
    ``counts`` smaller than ``rows``, and others that are not finite spoil ``squares``.
    """
    chosen = table.select(user=key(table, user), arm=key(table, arm), reward=number(table, reward))
    return chosen.group_by("user", "arm").aggregate(
        rows=chosen.count(),
        counts=chosen.reward.count(),
        sums=chosen.reward.sum(),
        squares=(chosen.reward * chosen.reward).sum(),
    )


def _pivot(cells: Any, name: str, arm: str) -> RewardTable:
    """Return the table of cells, an Arrow table with one row for each."""
    users, row = _sorted_codes(cells.column("user"))
    arms, column = _sorted_codes(cells.column("arm"))
    if len(users) * len(arms) > MOST_CELLS:
        raise LobInputError(
            f"{name} has {len(users):,} users and {len(arms):,} arms, more than {MOST_CELLS:,} "
            f"cells; is {arm!r} the column of arms?"
        )
    place = row * len(arms) + column
    fields = {}
    for field, kind in (("counts", np.int64), ("sums", np.float64), ("squares", np.float64)):
        values = np.zeros(len(users) * len(arms), dtype=kind)
        values[place] = cells.column(field).to_numpy()
        fields[field] = values.reshape(len(users), len(arms))
    try:
        names = arm_names(None, [str(value) for value in arms.tolist()])
    except LobInputError as error:
        raise LobInputError(f"column {arm!r} of {name}: {error}") from None
    return RewardTable._of(users, names, **fields)


def _sorted_codes(column: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct values, sorted, and where each row's value stands among them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    values = encoded.dictionary.take(order)
    plain = pa.types.is_primitive(values.type) and not pa.types.is_temporal(values.type)
    distinct = values.to_numpy(zero_copy_only=False) if plain else _objects(values.to_pylist())
    if distinct.dtype.kind == "i":
        distinct = distinct.astype(np.int64)
    return distinct, rank[encoded.indices.to_numpy()]


def _objects(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
