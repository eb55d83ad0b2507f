"""The log of decisions, and its export as NDJSON or Parquet, written while it is read."""

import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, NamedTuple

from lobandits.service.model import CurrentModel
from lobandits.service.store import Store
from lobandits.service.store.queries import read_log


class LogRow(NamedTuple):
    """A decision and what became of it.

    Attributes
    ----------
    number : int
        Counts the decisions of a store; to continue an export, start after the last one.
    id, user, arm, probability, model
        As in `Decision`.
    time : datetime
        When it was made, UTC.
    reward : float or None
        None if there is none yet.
    reward_time : datetime or None
        When the reward was reported; None also if it is the default reward.
    action, pscore
        The arm as a number from 0, and the probability, as `Open Bandit Pipeline
        <https://github.com/st-tech/zr-obp>`_ names them.
    """

    number: int
    id: str
    user: str
    arm: str
    probability: float
    model: str
    time: datetime
    reward: float | None
    reward_time: datetime | None
    action: int
    pscore: float


Format = Literal["ndjson", "parquet"]
Columns = Literal["log", "obp"]
KINDS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
NAMES: dict[str, tuple[str, ...]] = {
    "log": LogRow._fields,
    "obp": ("action", "arm", "reward", "pscore"),
}
CHUNK = 5_000  # rows

Row = dict[str, Any]


def log_rows(store: Store, current: CurrentModel, after: int, page: int) -> Iterator[LogRow]:
    """Yield the decisions numbered above ``after``, a page at a time."""
    while rows := read_log(store, after, page):
        for row in rows:
            yield LogRow(
                number=row.number,
                id=row.id.hex(),
                user=row.user_name,
                arm=row.arm,
                probability=row.probability,
                model=current.model_name(row.model),
                time=_date(row.time),
                reward=row.reward,
                reward_time=None if row.rewarded is None else _date(row.rewarded),
                action=row.arm_id - 1,
                pscore=row.probability,
            )
        after = rows[-1].number


def _date(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, UTC)


def export(rows: Iterable[LogRow], form: Format, columns: Columns = "log") -> Iterator[bytes]:
    r"""Yield the log in pieces that together are one file.

    Its columns are all that is known, or for "obp" those `NAMES` of rewarded decisions.

    Examples
    --------
    >>> time = datetime(2026, 1, 1)
    >>> row = LogRow(1, "0" * 32, "ada", "tea", 0.5, "1-abc", time, 1.0, None, 0, 0.5)
    >>> b"".join(export([row], "ndjson", "obp"))
    b'{"action": 0, "arm": "tea", "reward": 1.0, "pscore": 0.5}\n'
    """
    names = NAMES[columns]
    chosen = (
        {name: getattr(row, name) for name in names}
        for row in rows
        if columns == "log" or row.reward is not None
    )
    return _ndjson(chosen) if form == "ndjson" else _parquet(chosen, names)


def _ndjson(rows: Iterator[Row]) -> Iterator[bytes]:
    while chunk := list(islice(rows, CHUNK)):
        lines = (json.dumps(row, default=datetime.isoformat) for row in chunk)
        yield "".join(f"{line}\n" for line in lines).encode()


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
    """Return what was written since the last time."""
    written = sink.getvalue()
    sink.seek(0)
    sink.truncate()
    return written
