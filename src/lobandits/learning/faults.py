"""What is wrong with logs: which column, how many rows, which ones first, and the fix."""

from typing import Any

import numpy as np

from lobandits.errors import LobInputError
from lobandits.learning.frames import rows
from lobandits.learning.sources import Source
from lobandits.learning.table import RewardTable
from lobandits.orders.arms import counted

SHOWN = 3


def check_names(user: str, arm: str, reward: str) -> tuple[str, str, str]:
    """Return the names of three different columns."""
    names = (user, arm, reward)
    for name in names:
        if not isinstance(name, str):
            raise LobInputError(f"user, arm and reward must be names of columns, got {name!r}")
    if len(set(names)) < len(names):
        raise LobInputError(f"user, arm and reward must be three columns, got {', '.join(names)}")
    return names


def key(table: Any, name: str) -> Any:
    """Return the column of users or arms, which may hold text, numbers or dates."""
    column, kind = table[name], table[name].type()
    if kind.is_nested() or kind.is_binary() or kind.is_geospatial() or kind.is_json():
        raise LobInputError(f"column {name!r} holds {kind}; users and arms are text or numbers")
    return column


def number(table: Any, name: str) -> Any:
    """Return the column of rewards as numbers; text that reads as none is missing."""
    column, kind = table[name], table[name].type()
    if kind.is_string():
        return column.strip().try_cast("float64")  # a bare try_cast of a CSV's column would fail
    if kind.is_boolean():
        return column.cast("int8").cast("float64")
    if kind.is_numeric() or kind.is_null():
        return column.cast("float64")
    raise LobInputError(f"column {name!r} holds {kind}; rewards are numbers")


def check_cells(source: Source, cells: Any, user: str, arm: str, reward: str) -> None:
    """Refuse the logs behind these cells if any row is faulty; only then look for the rows."""
    import pyarrow.compute as pc

    table = source.table
    if not len(cells):
        raise LobInputError(f"{source.name} has no rows")
    for field, name in (("user", user), ("arm", arm)):
        if _any_missing(cells.column(field)):
            _refuse(source, _missing(table[name]), name, "empty", (user, arm, reward))
    found, counts, squares = (cells.column(field) for field in ("rows", "counts", "squares"))
    if counts != found or not pc.all(pc.is_finite(squares)).as_py():
        value = number(table, reward)
        bad = _missing(value) | value.isinf()
        _refuse(source, bad, reward, "empty or no finite number", (user, arm, reward))
        raise LobInputError(
            f"column {reward!r} of {source.name} has rewards too large to be squared and added; "
            "divide them all by some number"
        )


def _any_missing(values: Any) -> bool:
    import pyarrow as pa

    number = pa.types.is_floating(values.type)
    return bool(values.null_count or (number and np.isnan(values.to_numpy()).any()))


def _missing(column: Any) -> Any:
    return column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()


def _refuse(source: Source, bad: Any, name: str, what: str, columns: tuple[str, ...]) -> None:
    """Raise the error that counts the bad rows and shows the first, if there are any."""
    import ibis

    numbered = source.embedded and len(source.files) <= 1
    marked = source.table.select(*columns, bad=bad, row=ibis.row_number() + 1 if numbered else 0)
    faulty = marked.filter(marked.bad)
    number_of = source.fetch(faulty.aggregate(n=faulty.count())).column("n")[0].as_py()
    if not number_of:
        return
    first = source.fetch((faulty.order_by("row") if numbered else faulty).limit(SHOWN))
    shown = "; ".join(_row(row, columns, numbered) for row in first.to_pylist())
    more = ", the first" if number_of > SHOWN else ""
    raise LobInputError(
        f"column {name!r} of {source.name} is {what} in {rows(number_of)}{more}: {shown}. "
        "Correct or leave out such rows"
    )


def _row(row: dict[str, Any], columns: tuple[str, ...], numbered: bool) -> str:
    values = ", ".join(f"{name}={row[name]!r}" for name in columns)
    return f"row {row['row']} ({values})" if numbered else f"({values})"


def check_enough(
    table: RewardTable, user: str, arm: str, filters: tuple[int, int] | None = None
) -> None:
    """Refuse what no order can be learned from: one user, one arm, or an arm nobody tried."""
    left = ""
    if filters is not None:
        left = f" left, of arms with at least {filters[1]} rewards (min_arm_rewards) and users "
        left += f"with at least {filters[0]} (min_user_rewards)"
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
