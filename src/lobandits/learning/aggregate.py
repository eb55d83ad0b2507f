"""Logs added up where they are: the rows that count, the one expression, and faults that show."""

import math
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from lobandits.basics.checks import positive, real, seconds_of
from lobandits.errors import LobInputError
from lobandits.learning.source import Source, rows
from lobandits.orders.contexts import BETWEEN

Names = tuple[str, str, str]  # the columns of users, arms and rewards
SHOWN = 3
WEIGHT = "weight of the row"
Since = str | float | date | datetime


def aggregate(table: Any, names: Names) -> Any:
    """Return the ibis expression whose rows are the cells of users and arms.

    Faults ride along: missing users and arms are groups of their own; of all ``rows``, some have no
    reward at all, ``empty``, and if others are no numbers, ``counts`` is smaller than the rest;
    numbers that are not finite spoil ``squares``. Where rows have a `WEIGHT`, sums are of weighted
    rewards, and ``weights`` of the weights.
    """
    user, arm = (_key(table[name]) for name in names[:2])
    column = table[names[2]]
    if WEIGHT in table.columns:
        return _aggregate_faded(table, user, arm, column)
    chosen = table.select(user=user, arm=arm, reward=as_number(column), empty=_blank(column))
    return chosen.group_by("user", "arm").aggregate(
        rows=chosen.count(),
        empty=chosen.empty.cast("int64").sum(),
        counts=chosen.reward.count(),
        sums=chosen.reward.sum(),
        squares=(chosen.reward * chosen.reward).sum(),
    )


def _aggregate_faded(table: Any, user: Any, arm: Any, column: Any) -> Any:
    number, weight = as_number(column), table[WEIGHT]
    chosen = table.select(
        user=user, arm=arm, empty=_blank(column), reward=number, weight=weight,
        times=weight * number, squared=weight * number * number,
    )  # fmt: skip
    heard = chosen.reward.notnull()
    return chosen.group_by("user", "arm").aggregate(
        rows=chosen.count(),
        empty=chosen.empty.cast("int64").sum(),
        counts=chosen.reward.count(),
        weights=heard.ifelse(chosen.weight, 0.0).sum(),
        sums=chosen.times.sum(),
        squares=chosen.squared.sum(),
    )


def _key(column: Any) -> Any:
    kind = column.type()
    if kind.is_nested() or kind.is_binary() or kind.is_geospatial() or kind.is_json():
        raise LobInputError(
            f"column {column.get_name()!r} holds {kind}; users and arms are text or numbers"
        )
    return column


def as_number(column: Any) -> Any:
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
        value, blank = as_number(column), _blank(column)
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


def in_contexts(source: Source, arm: str, context: str, columns: Sequence[str]) -> Source:
    """Return rows whose arms are named after their contexts; rows without one are refused."""
    arms, contexts = (_key(source.table[name]) for name in (arm, context))
    text = contexts.cast("string")
    for bad, what in (
        (_blank(contexts), "empty"),
        (text.contains(BETWEEN), f"a name with {BETWEEN!r}, which stands before the arm,"),
    ):
        found = fault(source, bad, context, what, columns)
        if found:
            raise LobInputError(f"{found}. Correct or leave out such rows")
    names = _missing(arms).ifelse(None, text + BETWEEN + arms.cast("string"))
    return source._replace(table=source.table.mutate(**{arm: names}))


def faded(source: Source, time: str, half_life: str | float, columns: Sequence[str]) -> Source:
    """Return the rows with their weights, 2^(-(newest - t) / half-life) for a row of time t."""
    column = source.table[time]
    kind = column.type()
    if kind.is_string():
        column = column.try_cast("float64" if _is_number(half_life) else "timestamp")
    elif kind.is_date():
        column = column.cast("timestamp")
    if column.type().is_numeric():
        if not _is_number(half_life):
            raise LobInputError(
                f"column {time!r} holds numbers, so half_life must be a number, got {half_life!r}"
            )
        length = positive("half_life", float(half_life))
    elif column.type().is_timestamp():
        length = seconds_of("half_life", str(half_life))
        column = column.epoch_seconds()
    else:
        raise LobInputError(f"column {time!r} of {source.name} holds {kind}; times are expected")
    bad = fault(source, column.isnull(), time, "empty or no time", columns)
    if bad:
        raise LobInputError(f"{bad}. Correct or leave out such rows")
    newest = source.fetch(source.table.aggregate(n=column.max())).column("n")[0].as_py()
    age = (column.cast("float64") - float(newest or 0)) / length
    return source._replace(table=source.table.mutate(**{WEIGHT: (age * math.log(2.0)).exp()}))


def recent(source: Source, time: str, since: Since, columns: tuple[str, ...]) -> Source:
    """Return the rows with ``time >= since``; rows without a time are refused.

    A column of numbers is compared with a number, all others with a date or a time.
    """
    import ibis

    column = source.table[time]
    if column.type().is_string() and _is_number(since):
        column = column.try_cast("float64")
    kind = column.type()
    moment: Any
    if kind.is_numeric():
        moment = _number_since(time, since)
    elif kind.is_timestamp() or kind.is_date() or kind.is_string():
        zone = kind.timezone if kind.is_timestamp() else None
        if not kind.is_timestamp():
            column = column.try_cast("timestamp") if kind.is_string() else column.cast("timestamp")
        found = parse_time(since)
        # times without a zone are compared as they are written
        aware = found.replace(tzinfo=found.tzinfo or UTC)
        moment = ibis.literal(aware if zone else found.replace(tzinfo=None), type=column.type())
    else:
        raise LobInputError(f"column {time!r} of {source.name} holds {kind}; times are expected")
    bad = fault(source, column.isnull(), time, "empty or no time", columns)
    if bad:
        raise LobInputError(f"{bad}. Correct or leave out such rows")
    kept = source.table.filter(column >= moment)
    newest = source.fetch(source.table.aggregate(n=column.max())).column("n")[0].as_py()
    if not source.fetch(kept.aggregate(n=kept.count())).column("n")[0].as_py():
        raise LobInputError(
            f"{source.name} has no rows since {since}; the newest is of {time} {newest}"
        )
    return source._replace(table=kept)


def _is_number(since: Since) -> bool:
    try:
        float(since)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return True


def _number_since(time: str, since: Since) -> float:
    if not _is_number(since):
        raise LobInputError(
            f"column {time!r} holds numbers, so since must be a number, got {since!r}"
        )
    return real("since", float(since))  # type: ignore[arg-type]


def parse_time(since: Since) -> datetime:
    """Return the time that a text such as 2026-05-01 or 2026-05-01T12:30 means."""
    if isinstance(since, datetime):
        return since
    if isinstance(since, date):
        return datetime(since.year, since.month, since.day)
    try:
        return datetime.fromisoformat(str(since))
    except ValueError:
        raise LobInputError(
            f"since must be a date or a time such as 2026-05-01 or 2026-05-01T12:30, got {since!r}"
        ) from None
