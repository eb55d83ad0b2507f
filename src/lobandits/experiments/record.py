"""What one part found, one row of numbers for each user, and the file that keeps it.

The file is ``parts/KEY.parquet``: a row per user and point, a column per label, and the settings
and times as JSON in its metadata. KEY is a hash of the settings and of the sources that decide the
numbers, so a run that was stopped goes on where it was, unless either changed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import lobandits
from lobandits._checks import FloatArray
from lobandits._files import write_atomic
from lobandits.errors import LobError

MOST_POINTS = 200
"""Rounds at which a simulation's regret is kept, at most."""
METADATA = "lobandits"
WITHOUT_NUMBERS = ("__init__.py", "cli", "service", "experiments", "selection")
"""Sources whose edits change no number of a part."""


@dataclass(frozen=True, eq=False)
class Record:
    """Samples by label: arrays of shape (n_users, n_points), the same users for every label.

    A simulation has each policy's cumulative regret at evenly spaced rounds, the points; anything
    else has one point. ``settings`` decided the numbers. What each label took is in ``seconds``,
    and ``cpu_seconds`` counts all workers.
    """

    settings: Mapping[str, Any]
    points: FloatArray
    samples: Mapping[str, FloatArray]
    seconds: Mapping[str, float] = field(default_factory=dict)
    cpu_seconds: Mapping[str, float] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, in the order given."""
        return tuple(self.samples)

    @property
    def n_users(self) -> int:
        """How many rows each label has."""
        return len(next(iter(self.samples.values())))

    @property
    def horizon(self) -> int:
        """The last point."""
        return int(self.points[-1])

    def total(self, label: str, share: float = 1.0) -> FloatArray:
        """Return each user's regret after that share of the rounds."""
        if share <= 0:
            return np.zeros(self.n_users)
        place = int(np.searchsorted(self.points, share * self.points[-1] - 1e-9))
        return self.samples[label][:, place]

    def between(self, label: str, start: float, stop: float) -> FloatArray:
        """Return each user's regret in the rounds between two shares of the horizon."""
        return self.total(label, stop) - self.total(label, start)

    def curve(self, label: str) -> tuple[FloatArray, FloatArray]:
        """Return the mean over users at every point, and its standard error."""
        return mean_and_error(self.samples[label])

    def slope(self, label: str) -> tuple[FloatArray, FloatArray]:
        """Return the mean regret per round since the point before, and its standard error."""
        steps = np.diff(self.points, prepend=0.0)
        return mean_and_error(np.diff(self.samples[label], axis=1, prepend=0.0) / steps)


def mean_and_error(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean over the first axis and its standard error (nan for a single row)."""
    n = len(values)
    if n < 2:
        return values.mean(axis=0), np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(n)


def kept_rounds(horizon: int) -> FloatArray:
    """Return evenly spaced rounds, the last of which is the horizon.

    Examples
    --------
    >>> kept_rounds(4000)[:3], kept_rounds(500)[-2:]
    (array([20., 40., 60.]), array([495., 500.]))
    """
    step = next(step for step in (1, 5, 10, 20, horizon) if horizon / step <= MOST_POINTS)
    if horizon % step:
        raise LobError(f"horizon {horizon} must be a multiple of {step}")
    return np.arange(step, horizon + 1, step, dtype=np.float64)


def part_key(settings: Mapping[str, Any]) -> str:
    """Return the name of a part's file: 16 hexadecimal digits."""
    text = json.dumps({"settings": settings, "code": _code_version()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _code_version() -> str:
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


def save_part(folder: Path, key: str, record: Record) -> None:
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
    metadata = {METADATA: json.dumps(header)}
    write_atomic(path, lambda file: frame.write_parquet(file, metadata=metadata))


def load_part(folder: Path, key: str) -> Record | None:
    """Return a saved record; None if there is none, or if its file is broken."""
    import polars as pl

    path = part_path(folder, key)
    try:
        header = json.loads(pl.read_parquet_metadata(path)[METADATA])
        frame = pl.read_parquet(path)
        points = np.array(header.pop("points"))
        labels = header.pop("labels")
        samples = {p: frame[p].to_numpy().reshape(-1, len(points)) for p in labels}
        return Record(points=points, samples=samples, **header)
    except (Exception, pl.exceptions.PanicException):  # done again, whatever is wrong with it
        return None
