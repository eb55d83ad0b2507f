"""Logs to RewardTable: one aggregation, wherever the logs are."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import IntArray
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
    str, os.PathLike[str], list[str], RewardTable,
    "pd.DataFrame", "pl.DataFrame", "pl.LazyFrame", "pa.Table", "ibis.Table",
]  # fmt: skip

MOST_CELLS = 2**29
DENSE = 4  # numbers lie close together if their range is at most so many times their number


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
        One row for each reward: a CSV or Parquet file, a folder, glob or list of such files; a
        pandas, polars or Arrow table; an ibis table of any engine; or a RewardTable, which is
        filtered.
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
    coded, users = _encode(cells, "user")
    coded, arms = _encode(coded, "arm")
    shape = len(users.distinct), len(arms.distinct)
    if shape[0] * shape[1] > MOST_CELLS:
        raise LobInputError(
            f"{name} has {shape[0]:,} users and {shape[1]:,} arms, more than {MOST_CELLS:,} "
            f"cells; is {arm!r} the column of arms?"
        )
    kinds = {"counts": np.int64, "sums": np.float64, "squares": np.float64}
    fields = {field: np.zeros(shape[0] * shape[1], dtype=kind) for field, kind in kinds.items()}

    def write(batch: Any) -> None:
        place = users.ranks(batch.column("user")) * shape[1] + arms.ranks(batch.column("arm"))
        for field, values in fields.items():
            values[place] = batch.column(field).to_numpy()

    _in_threads(write, coded.to_batches())
    try:
        names = arm_names(None, [str(value) for value in arms.distinct.tolist()])
    except LobInputError as error:
        raise LobInputError(
            f"column {arm!r} of {name}: {error}. Correct or leave out such rows"
        ) from None
    arrays = {field: values.reshape(shape) for field, values in fields.items()}
    return RewardTable._of(users.distinct, names, **arrays)


class _Codes(NamedTuple):
    """The distinct values, sorted, and a lookup table of the rank of code ``i + low``."""

    distinct: NDArray[Any]
    rank: IntArray
    low: int = 0

    def ranks(self, values: Any) -> IntArray:
        """Return where each value, or its code in a dictionary, stands among the distinct."""
        codes: IntArray = getattr(values, "indices", values).to_numpy()
        return self.rank[np.subtract(codes, self.low, dtype=np.int64)]


def _encode(cells: Any, field: str) -> tuple[Any, _Codes]:
    """Return the cells with one column coded, and its codes.

    Whole numbers that lie close together are their own codes, which saves hashing.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = cells.column(field)
    if pa.types.is_signed_integer(column.type):
        low, high = (end.as_py() for end in pc.min_max(column).values())
        if high - low < DENSE * len(column):
            there = np.zeros(high - low + 1, dtype=np.bool_)
            for chunk in column.chunks:
                there[np.subtract(chunk.to_numpy(), low, dtype=np.int64)] = True
            return cells, _Codes(np.flatnonzero(there) + low, np.cumsum(there) - 1, low)
    chunks = _in_threads(lambda chunk: chunk.dictionary_encode(), column.chunks)
    encoded = pa.chunked_array(chunks).unify_dictionaries()
    values = encoded.chunk(0).dictionary
    order = pc.sort_indices(values).to_numpy()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    coded = cells.set_column(cells.column_names.index(field), field, encoded)
    return coded, _Codes(_array(values.take(order)), rank)


def _in_threads(work: Callable[[Any], Any], parts: list[Any]) -> list[Any]:
    """Return what ``work`` makes of each part; Arrow and NumPy let other threads go on."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(work, parts))


def _array(values: Any) -> NDArray[Any]:
    """Return numbers as such, everything else as Python objects."""
    import pyarrow as pa

    if pa.types.is_signed_integer(values.type):
        return np.asarray(values.to_numpy(), dtype=np.int64)
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return np.asarray(values.to_numpy())
    array = np.empty(len(values), dtype=object)
    array[:] = values.to_pylist()
    return array
