"""The recent part of logs: rows whose time is not before a given one."""

from datetime import UTC, date, datetime
from typing import Any

from lobandits._checks import real
from lobandits.errors import LobInputError
from lobandits.learning.aggregate import fault
from lobandits.learning.source import Source

Since = str | float | date | datetime


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
        moment = _number(time, since)
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


def _number(time: str, since: Since) -> float:
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
