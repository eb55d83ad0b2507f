"""The one expression that adds logs up, wherever they are, and what it shows of their faults."""

from typing import Any

from lobandits.errors import LobInputError
from lobandits.learning.source import Source, rows

Names = tuple[str, str, str]  # the columns of users, arms and rewards
SHOWN = 3


def aggregate(table: Any, names: Names) -> Any:
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


def check_cells(source: Source, cells: Any, names: Names) -> None:
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
