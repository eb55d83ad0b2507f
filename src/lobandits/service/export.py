"""The log of decisions as NDJSON or Parquet, written while it is read, so memory stays small.

The columns of `Open Bandit Pipeline <https://github.com/st-tech/zr-obp>`_ are ``action`` (the
arm as a number), ``reward`` and ``pscore`` (the probability that the arm had when it was chosen).
"""

import io
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any, Literal

from lobandits.service.log import LogRow

Format = Literal["ndjson", "parquet"]
Columns = Literal["log", "obp"]
KINDS = {"ndjson": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
NAMES: dict[str, tuple[str, ...]] = {
    "log": LogRow._fields,
    "obp": ("action", "arm", "reward", "pscore"),
}
CHUNK = 5_000  # rows

Row = dict[str, Any]


def export(rows: Iterable[LogRow], form: Format, columns: Columns = "log") -> Iterator[bytes]:
    r"""Yield the log in pieces that together are one file.

    Parameters
    ----------
    rows
        Decisions, as `DecisionService.log` returns them.
    form
        "ndjson" (one JSON object a line) or "parquet".
    columns
        "log" for all that is known, "obp" for the action, arm, reward and pscore of rewarded
        decisions.

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
        yield "".join(f"{json.dumps(row, default=_written)}\n" for row in chunk).encode()


def _written(value: Any) -> str:
    assert isinstance(value, datetime)
    return value.isoformat()


def _parquet(rows: Iterator[Row], names: tuple[str, ...]) -> Iterator[bytes]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    time = pa.timestamp("us", "UTC")
    known = {"number": pa.int64(), "action": pa.int64(), "time": time, "reward_time": time}
    known |= dict.fromkeys(("probability", "reward", "pscore"), pa.float64())
    schema = pa.schema([(name, known.get(name, pa.string())) for name in names])
    sink = _Sink()
    with ParquetWriter(sink, schema) as writer:
        while chunk := list(islice(rows, CHUNK)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
            yield sink.take()
    yield sink.take()


class _Sink(io.RawIOBase):
    """A file that is read from while it is written."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        parts, self.parts = self.parts, []
        return b"".join(parts)
