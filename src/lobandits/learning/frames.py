"""Logs in memory: pandas, polars and Arrow tables, as Arrow on an embedded DuckDB."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lobandits.errors import LobInputError
from lobandits.learning.source import Source, check_columns, rows

if TYPE_CHECKING:
    import pyarrow as pa


def open_frame(logs: Any, columns: Sequence[str]) -> Source:
    """Return the columns of a table in memory."""
    import ibis

    table = ibis.memtable(_arrow(logs, columns))
    return Source(table, "the table", ibis.duckdb.connect())


def _arrow(logs: Any, columns: Sequence[str]) -> "pa.Table":
    """Return the columns of a pandas, polars or Arrow table, as Arrow."""
    import pyarrow as pa

    if hasattr(logs, "collect_schema"):  # polars, perhaps lazy
        check_columns(logs.collect_schema().names(), columns, "the table")
        logs = logs.lazy().select(columns).collect()
    if not hasattr(logs, "columns"):
        raise LobInputError(
            f"logs of type {type(logs).__name__} are unknown; give a path, a pandas, polars or "
            "Arrow table, an ibis table, or a RewardTable"
        )
    check_columns(getattr(logs, "column_names", logs.columns), columns, "the table")
    if hasattr(logs, "iloc"):  # pandas, whose columns may have numbers for names
        logs = logs.loc[:, [str(name) in columns for name in logs.columns]].rename(columns=str)
    return pa.table({name: _column(logs, name) for name in columns})


def _column(frame: Any, name: str) -> Any:
    import pyarrow as pa

    part = frame.select([name]) if hasattr(frame, "select") else frame[[name]]
    try:
        column = pa.table(part).column(0)
        if getattr(column.type, "extension_name", "") == "arrow.uuid":
            return pa.array([None if value is None else str(value) for value in column.to_pylist()])
        if isinstance(column.type, pa.BaseExtensionType):
            raise TypeError(f"it holds {column.type}, neither numbers nor text")
        if pa.types.is_fixed_size_binary(column.type):  # also Python objects, in polars
            raise TypeError("its values are neither numbers nor text")
        return column
    except (pa.ArrowException, TypeError, ValueError) as error:
        there = part[name]
        values = there.to_list() if hasattr(there, "to_list") else there.to_pylist()
        raise LobInputError(
            f"column {name!r} of the table: {_mixture(values) or error}; make it one type"
        ) from error


def _mixture(values: list[Any]) -> str:
    """Say which types the values have, and where the rarest is first, if there are several."""
    types = [type(value).__name__ for value in values]
    kinds = Counter(kind for kind in types if kind != "NoneType").most_common()
    if len(kinds) < 2:
        return ""
    row = types.index(kinds[-1][0])
    mixed = ", ".join(f"{kind} in {rows(count)}" for kind, count in kinds)
    return f"it mixes types, {mixed} (the first is row {row + 1}, {values[row]!r})"
