"""The log of decisions, and its export as one file: JSON lines, CSV or Parquet."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from lobandits.service.store import Store
from lobandits.service.store.history import logged_decisions
from lobandits.service.store.models import StoredNames
from lobandits.service.store.tables import as_date

Format = Literal["ndjson", "csv", "parquet"]
Columns = Literal["log", "obp"]
KINDS = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
}
ENDS: dict[str, Format] = {
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".csv": "csv",
    ".parquet": "parquet",
}
PAGE = 10_000  # rows that are read at once
CHUNK = 5_000  # rows that are written at once

Row = dict[str, Any]


class LogRow(NamedTuple):
    """A decision and what became of it; times are UTC.

    ``action`` and ``pscore`` are the arm as a number from 0, among all that its problem ever had,
    and the probability, as `Open Bandit Pipeline <https://github.com/st-tech/zr-obp>`_ names them.
    """

    number: int  # counts the decisions of a store; to continue an export, start after the last one
    id: str
    problem: str
    user: str
    arm: str
    probability: float
    model: str
    time: datetime
    reward: float | None  # None if there is none yet
    reward_time: datetime | None  # None also if it is the default reward
    action: int
    pscore: float
    group: str | None  # model or control with a control group, caller for an apprentice
    advised: str | None  # the arm that the model would have played, if the caller chose


def log_rows(
    store: Store, names: StoredNames, problem: str, after: int = 0, page: int = PAGE
) -> Iterator[LogRow]:
    """Yield a problem's decisions numbered above ``after``, read a page at a time."""
    while rows := logged_decisions(store, problem, after, page):
        for row in rows:
            model, chance = names.model(row.model), row.probability
            rewarded = None if row.rewarded is None else as_date(row.rewarded)
            yield LogRow(
                row.number, row.id.hex(), problem, row.user_name, row.arm, chance, model,
                as_date(row.time), row.reward, rewarded, names.action(row.arm_id), chance,
                row.control_group, None if row.advised is None else names.arm(row.advised),
            )  # fmt: skip
        after = rows[-1].number


NAMES: dict[str, tuple[str, ...]] = {
    "log": LogRow._fields,
    "obp": ("user", "action", "arm", "reward", "pscore"),
}


def exported(rows: Iterable[LogRow], columns: Columns) -> Iterator[LogRow]:
    """Yield the rows that an export holds: all, or for "obp" those that estimates can use.

    These are rewarded decisions, and none that the caller chose: nobody knows their chances.
    """
    for row in rows:
        if columns == "log" or (row.reward is not None and row.advised is None):
            yield row


def export(rows: Iterable[LogRow], form: Format, columns: Columns = "log") -> Iterator[bytes]:
    """Yield the `exported` rows in pieces that together are one file."""
    names = NAMES[columns]
    chosen = ({name: getattr(row, name) for name in names} for row in rows)
    if form == "parquet":
        return _parquet(chosen, names)
    return _ndjson(chosen) if form == "ndjson" else _csv(chosen, names)


def _ndjson(rows: Iterator[Row]) -> Iterator[bytes]:
    while chunk := list(islice(rows, CHUNK)):
        lines = (json.dumps(row, default=datetime.isoformat) for row in chunk)
        yield "".join(f"{line}\n" for line in lines).encode()


def _csv(rows: Iterator[Row], names: tuple[str, ...]) -> Iterator[bytes]:
    """Yield a header, then the rows; what is missing is empty, and times are as in JSON."""
    chunk = [names]
    while chunk:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(chunk)
        yield text.getvalue().encode()
        chunk = [tuple(map(_cell, row.values())) for row in islice(rows, CHUNK)]


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _parquet(rows: Iterator[Row], names: tuple[str, ...]) -> Iterator[bytes]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    time = pa.timestamp("us", "UTC")
    known = {"number": pa.int64(), "action": pa.int64(), "time": time, "reward_time": time}
    known |= dict.fromkeys(("probability", "reward", "pscore"), pa.float64())
    schema = pa.schema([(name, known.get(name, pa.string())) for name in names])
    sink = io.BytesIO()
    with ParquetWriter(sink, schema) as writer:
        while chunk := list(islice(rows, CHUNK)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            yield _taken(sink)
    yield _taken(sink)


def _taken(sink: io.BytesIO) -> bytes:
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
