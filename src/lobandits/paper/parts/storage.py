"""Finished parts on disk: a run that was stopped goes on where it was.

A record stands in ``parts/KEY.npz``: its points, its people, the samples of each label, and as JSON
its settings and times. KEY is a hash of the settings and of the sources that decide the
numbers, so a part is run again if either changed.
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

HEADER = ("settings", "seconds", "cpu_seconds")
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
    return folder / "parts" / f"{key}.npz"


def save_part(folder: Path, key: str, record: Record) -> None:
    """Write a record, whole or not at all."""
    path = part_path(folder, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = {name: getattr(record, name) for name in HEADER}
    arrays: dict[str, Any] = {
        f"samples/{label}": values for label, values in record.samples.items()
    }
    arrays |= {"points": record.points, "people": record.people}
    arrays["header"] = np.array(json.dumps(header, default=dict))
    write_atomic(path, lambda file: np.savez_compressed(file, **arrays))


def load_part(folder: Path, key: str) -> Record | None:
    """Return a saved record; None if there is none, or if its file is broken."""
    try:
        with part_path(folder, key).open("rb") as stream, np.load(stream) as file:
            names = [name for name in file.files if name.startswith("samples/")]
            samples = {name.removeprefix("samples/"): file[name] for name in names}
            header = json.loads(str(file["header"]))
            return Record(points=file["points"], people=file["people"], samples=samples, **header)
    except Exception:  # done again, whatever is wrong with it
        return None
