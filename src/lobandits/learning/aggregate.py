"""The one expression that adds logs up, wherever they are, and what it shows of their faults."""

from collections.abc import Sequence
from typing import Any

from lobandits.errors import LobInputError
from lobandits.learning.source import Source, rows

Names = tuple[str, str, str]  # the columns of users, arms and rewards
SHOWN = 3


def aggregate(table: Any, names: Names) -> Any:
    """Return the ibis expression whose rows are the cells of users and arms.

    Faults ride along: missing users and arms are groups of their own; of all ``rows``, some have no
    reward at all, ``empty``, and if others are no numbers, ``counts`` is smaller than the rest;
    numbers that are not finite spoil ``squares``.
    """
    user, arm = (_key(table[name]) for name in names[:2])
    column = table[names[2]]
    chosen = table.select(user=user, arm=arm, reward=_number(column), empty=_blank(column))
    return chosen.group_by("user", "arm").aggregate(
        rows=chosen.count(),
        empty=chosen.empty.cast("int64").sum(),
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
    """Return the column of rewards as numbers; what is empty or reads as none is missing."""
    kind = column.type()
    if kind.is_string():
        return column.strip().try_cast("float64")  # a bare try_cast of a CSV's column would fail
    if kind.is_boolean():
        return column.cast("int8").cast("float64")
    if kind.is_floating():
        return _blank(column).ifelse(None, column).cast("float64")
    if kind.is_numeric() or kind.is_null():
        return column.cast("float64")
    raise LobInputError(f"column {column.get_name()!r} holds {kind}; rewards are numbers")


def _blank(column: Any) -> Any:
    """Return whether a reward is left out: missing, not a number by name, or text of blanks."""
    kind = column.type()
    if kind.is_string():
        return column.isnull() | (column.strip() == "")
    return _missing(column)


def _missing(column: Any) -> Any:
    return column.isnull() | column.isnan() if column.type().is_floating() else column.isnull()


def check_cells(source: Source, cells: Any, names: Names, skip_empty: bool) -> None:
    """Refuse the logs behind these cells if any row is faulty; only then look for the rows."""
    import pyarrow.compute as pc

    if not len(cells):
        raise LobInputError(f"{source.name} has no rows")
    *keys, reward = names
    faults = []
    for field, name in zip(("user", "arm"), keys, strict=True):
        if pc.any(pc.is_null(cells.column(field), nan_is_null=True)).as_py():
            faults.append(fault(source, _missing(source.table[name]), name, "empty", names))
    found, empty, counts = (cells.column(field) for field in ("rows", "empty", "counts"))
    finite = pc.all(pc.is_finite(pc.fill_null(cells.column("squares"), 0.0))).as_py()
    skipped = pc.sum(empty).as_py() > 0 and not skip_empty
    if skipped or not finite or pc.add(counts, empty) != found:
        column = source.table[reward]
        value, blank = _number(column), _blank(column)
        bad = value.isnull() | value.isinf()
        what = "empty or no finite number"
        if skip_empty:
            bad, what = bad & ~blank, "no finite number"
        faults.append(fault(source, bad, reward, what, names))
    _raise([text for text in faults if text], skipped)
    if not finite:
        raise LobInputError(
            f"column {reward!r} of {source.name} has rewards too large to be squared and added; "
            "divide them all by some number"
        )
    if skip_empty and not pc.sum(counts).as_py():
        raise LobInputError(f"column {reward!r} of {source.name} has no reward at all")


def _raise(faults: list[str], empty: bool) -> None:
    if faults:
        skip = "; skip_empty (--skip-empty) skips rows without a reward" if empty else ""
        raise LobInputError(f"{'; '.join(faults)}. Correct or leave out such rows{skip}")


def fault(source: Source, bad: Any, name: str, what: str, columns: Sequence[str]) -> str:
    """Count the bad rows and show the first, in words; nothing if there are none."""
    import ibis

    numbered = source.embedded and len(source.files) <= 1
    marked = source.table.select(*columns, bad=bad, row=ibis.row_number() + 1 if numbered else 0)
    faulty = marked.filter(marked.bad)
    number = source.fetch(faulty.aggregate(n=faulty.count())).column("n")[0].as_py()
    if not number:
        return ""
    first = source.fetch((faulty.order_by("row") if numbered else faulty).limit(SHOWN))
    shown = []
    for row in first.to_pylist():
        values = ", ".join(f"{column}={row[column]!r}" for column in columns)
        shown.append(f"row {row['row']} ({values})" if numbered else f"({values})")
    more = ", the first" if number > SHOWN else ""
    return f"column {name!r} of {source.name} is {what} in {rows(number)}{more}: {'; '.join(shown)}"
