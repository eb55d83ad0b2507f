"""Finished parts on disk: a run that was stopped goes on where it was.

A record stands in ``parts/KEY.parquet``: a row per user and point, a column per label, and the
settings and times as JSON in its metadata. KEY is a hash of the settings and of the sources that
decide the numbers, so a part is run again if either changed.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lobandits.basics.files import write_atomic
from lobandits.basics.sources import digest_of_sources
from lobandits.paper.parts.record import Record

METADATA = "lobandits"
DECIDING = ("parts", "movielens", "clustering")


def part_key(settings: Mapping[str, Any]) -> str:
    """Return the name of a part's file: 16 hexadecimal digits."""
    text = json.dumps({"settings": settings, "code": _code()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _code() -> str:
    """Return a hash of all sources below, and of those of this room that decide numbers."""
    paper = Path(__file__).parent.parent
    return digest_of_sources(*(paper / room for room in DECIDING))


def part_path(folder: Path, key: str) -> Path:
    """Return where a part is saved."""
    return folder / "parts" / f"{key}.parquet"


def save_part(folder: Path, key: str, record: Record) -> None:
    """Write a record, whole or not at all."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    path = part_path(folder, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    n, points = record.n_users, record.points
    header = {
        "settings": dict(record.settings),
        "labels": list(record.labels),
        "points": points.tolist(),
        "seconds": dict(record.seconds),
        "cpu_seconds": {label: list(each) for label, each in record.cpu_seconds.items()},
    }
    columns: dict[str, Any] = {
        "user": np.repeat(record.people, len(points)),
        "round": np.tile(points.astype(np.uint32), n),
    }
    table = pa.table(columns | {p: values.ravel() for p, values in record.samples.items()})
    table = table.replace_schema_metadata({METADATA: json.dumps(header)})
    write_atomic(path, lambda file: write_table(table, file, compression="zstd"))


def load_part(folder: Path, key: str) -> Record | None:
    """Return a saved record; None if there is none, or if its file is broken."""
    from pyarrow.parquet import read_table

    try:
        table = read_table(part_path(folder, key))
        header = json.loads(table.schema.metadata[METADATA.encode()])
        points = np.array(header.pop("points"))
        labels = header.pop("labels")
        samples = {p: table[p].to_numpy().reshape(-1, len(points)) for p in labels}
        people = table["user"].to_numpy()[:: len(points)]
        return Record(points=points, samples=samples, people=people, **header)
    except Exception:  # done again, whatever is wrong with it
        return None
