"""Finished parts as files, so that a run that was stopped goes on where it was.

A part's file is ``parts/KEY.parquet``: a row per user and point, a column per label, and the
settings and times as JSON in its metadata. KEY is a hash of the settings and of the sources
that decide the numbers, so a part is done again if either changes.
"""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any

import numpy as np

import lobandits
from lobandits._files import write_atomic
from lobandits.experiments.record import Record

METADATA = "lobandits"
WITHOUT_NUMBERS = ("__init__.py", "cli", "service", "experiments", "selection")
"""Sources whose edits change no number of a part."""


def part_key(settings: Mapping[str, Any]) -> str:
    """Return the name of a part's file: 16 hexadecimal digits."""
    text = json.dumps({"settings": settings, "code": code_version()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def code_version() -> str:
    """Return a hash of all sources that may decide a number."""
    package = Path(lobandits.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        if path.relative_to(package).parts[0] not in WITHOUT_NUMBERS:
            digest.update(path.relative_to(package).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def part_path(folder: Path, key: str) -> Path:
    """Return where a part is saved."""
    return folder / "parts" / f"{key}.parquet"


def save_part(folder: Path, key: str, record: Record) -> Path:
    """Write a record, whole or not at all."""
    import polars as pl

    path = part_path(folder, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    n, points = record.n_users, record.points
    header = {
        "settings": dict(record.settings),
        "labels": list(record.labels),
        "points": points.tolist(),
        "seconds": dict(record.seconds),
        "cpu_seconds": dict(record.cpu_seconds),
    }
    columns: dict[str, Any] = {
        "user": np.repeat(np.arange(n, dtype=np.uint32), len(points)),
        "round": np.tile(points.astype(np.uint32), n),
    }
    frame = pl.DataFrame(columns | {p: values.ravel() for p, values in record.samples.items()})

    def fill(file: IO[bytes]) -> None:
        frame.write_parquet(file, metadata={METADATA: json.dumps(header)})

    return write_atomic(path, fill)


def load_part(folder: Path, key: str) -> Record | None:
    """Return a saved record; None if there is none, or if its file is broken."""
    import polars as pl

    path = part_path(folder, key)
    if not path.is_file():
        return None
    try:
        header = json.loads(pl.read_parquet_metadata(path)[METADATA])
        frame = pl.read_parquet(path)
        points = np.array(header["points"])
        samples = {
            label: frame[label].to_numpy().reshape(-1, len(points)) for label in header["labels"]
        }
        return Record(
            settings=header["settings"],
            points=points,
            samples=samples,
            seconds=header["seconds"],
            cpu_seconds=header["cpu_seconds"],
        )
    except (Exception, pl.exceptions.PanicException):  # done again, whatever is wrong with it
        return None
