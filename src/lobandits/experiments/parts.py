"""Parts: the units of work that are run once, saved, and shared between figures.

A part leaves a record, one row of numbers for each user, in ``parts/KEY.parquet``: a row per user
and point, a column per label, and the settings and times as JSON in its metadata. KEY is a hash of
the settings and of the sources that decide the numbers, so a run that was stopped goes on where it
was, unless either changed.
"""

import hashlib
import inspect
import json
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lobandits._checks import FloatArray
from lobandits._files import write_atomic
from lobandits._sources import digest_of_sources
from lobandits.errors import LobError
from lobandits.simulation import Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.experiments.design import RatingData
    from lobandits.simulation.problems import Environment

Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""
MOST_POINTS = 200
"""Rounds at which a simulation's regret is kept, at most."""
METADATA = "lobandits"


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
    def by_value(self) -> dict[float, str]:
        """The labels that read "name = value", by their value."""
        return {float(label.split("=")[1]): label for label in self.samples if "=" in label}

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
    """Return evenly spaced rounds, the last of which is the horizon."""
    step = next(step for step in (1, 5, 10, 20, horizon) if horizon / step <= MOST_POINTS)
    if horizon % step:
        raise LobError(f"horizon {horizon} must be a multiple of {step}")
    return np.arange(step, horizon + 1, step, dtype=np.float64)


def part_key(settings: Mapping[str, Any]) -> str:
    """Return the name of a part's file: 16 hexadecimal digits."""
    text = json.dumps({"settings": settings, "code": _code()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _code() -> str:
    """Return a hash of all sources that may decide a number."""
    return digest_of_sources()


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


@dataclass(frozen=True)
class Workplace:
    """Where parts run: the ratings at hand, and the workers. It never changes a number."""

    ratings: "RatingData"
    workers: int | None = None
    executor: Executor | None = None


@dataclass(frozen=True)
class Simulation:
    """A run of :func:`lobandits.simulate` at one place of a sweep; some rounds are kept."""

    environment: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    seed: int

    def settings(self, ratings: "RatingData") -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""
        settings = {
            "environment": self.environment,
            **self.options,
            "policies": list(self.policies),
            "horizon": self.horizon,
            "users": self.n_users,
            "seed": self.seed,
        }
        return settings | ({"ratings": ratings.key} if self.environment == "movielens" else {})

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy.

        Orders cost more, the more states and the fewer relations there are.
        """
        dear = sum(name.startswith("lobts") for name in self.policies)
        each = len(self.policies) + dear * (4 + float(self.options.get("n_states", 15)) / 10)
        return self.n_users * self.horizon * each * (5 - 4 * float(self.options.get("q", 1.0)))

    def run(self, place: Workplace, advance: Advance) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        settings = self.settings(place.ratings)
        env: Environment
        if self.environment == "synthetic":
            env = Synthetic(**self.options)
        else:
            env = movielens = place.ratings.environment(**self.options)
            settings["states found"] = movielens.orders.n_states  # equal orders merge
        n_decisions = self.n_users * self.horizon * len(self.policies)
        result = simulate(
            env,
            self.policies,
            self.horizon,
            self.n_users,
            self.seed,
            workers=place.workers,
            executor=place.executor,
            progress=lambda decisions: advance(decisions / n_decisions),
        )
        points = kept_rounds(self.horizon)
        kept = points.astype(np.int64) - 1
        samples = {p: result.regret[p].cumsum(axis=1)[:, kept] for p in self.policies}
        return Record(settings, points, samples, result.seconds, result.cpu_seconds)


@dataclass(frozen=True)
class Measurement:
    """The call of a survey's function, which returns samples by label, each of shape (n,)."""

    measure: Callable[..., Mapping[str, FloatArray]]
    options: Mapping[str, Any]
    on_ratings: bool = False
    cost: ClassVar[float] = 1e6

    def settings(self, ratings: "RatingData") -> dict[str, Any]:
        """Return all that decides the numbers, as JSON; the function counts by its file's text."""
        text = inspect.getsource(sys.modules[self.measure.__module__])
        return self._shown_settings(ratings) | {"text": text}

    def _shown_settings(self, ratings: "RatingData") -> dict[str, Any]:
        settings = {"measure": self.measure.__name__, **self.options}
        return settings | ({"ratings": ratings.key} if self.on_ratings else {})

    def run(self, place: Workplace, advance: Advance) -> Record:
        """Call the function."""
        began, cpu = time.perf_counter(), time.process_time()
        data = (place.ratings,) if self.on_ratings else ()
        samples = self.measure(*data, **self.options)
        advance(1.0)
        return Record(
            settings=self._shown_settings(place.ratings),
            points=np.ones(1),
            samples={label: np.asarray(v, dtype=float)[:, None] for label, v in samples.items()},
            seconds={self.measure.__name__: time.perf_counter() - began},
            cpu_seconds={self.measure.__name__: time.process_time() - cpu},
        )


Part = Simulation | Measurement
