"""What parts found: a row of numbers for each user, by label; and all records of an experiment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobError


@dataclass(frozen=True, eq=False)
class Record:
    """Samples by label: arrays of shape (n_users, n_points), the same users for every label.

    A simulation has each policy's cumulative regret at evenly spaced rounds, the points; anything
    else has one point. ``settings`` decided the numbers, and ``people`` says who each row is. What
    each label took is in ``seconds``, and ``cpu_seconds`` counts all workers, for each seed.
    ``groups`` says, of several seeds, which rows were drawn together: with the same seed (genres,
    clustering, noise), or of the same user.
    """

    settings: Mapping[str, Any]
    points: FloatArray
    samples: Mapping[str, FloatArray]
    people: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    seconds: Mapping[str, float] = field(default_factory=dict)
    cpu_seconds: Mapping[str, Sequence[float]] = field(default_factory=dict)
    groups: Mapping[str, IntArray] = field(default_factory=dict)

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
    def drawn(self) -> str:
        """How many users there are, and how they were drawn, in words."""
        settings = self.settings
        first, n_seeds = int(settings.get("seed", 0)), int(settings.get("seeds", 1))
        if n_seeds == 1:
            return f"{self.n_users:,} users, seed {first}"
        each = self.n_users // n_seeds
        return f"{each:,} users for each of {n_seeds} seeds, {first} to {first + n_seeds - 1}"

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
        return mean_and_error(self.samples[label], self.groups.values())

    def slope(self, label: str) -> tuple[FloatArray, FloatArray]:
        """Return the mean regret per round since the point before, and its standard error."""
        steps = np.diff(self.points, prepend=0.0)
        each = np.diff(self.samples[label], axis=1, prepend=0.0) / steps
        return mean_and_error(each, self.groups.values())


def joined(records: Sequence[Record]) -> Record:
    """Return the record of several seeds: the rows of each below those of the one before."""
    first = records[0]
    if len(records) == 1:
        return first
    settings = {**first.settings, "seeds": len(records)}
    if "states found" in settings:
        settings["states found"] = [r.settings["states found"] for r in records]
    seeds, sizes = [r.settings["seed"] for r in records], [r.n_users for r in records]
    people = np.concatenate([r.people for r in records])
    return replace(
        first,
        settings=settings,
        samples={p: np.concatenate([r.samples[p] for r in records]) for p in first.labels},
        people=people,
        seconds={p: sum(r.seconds[p] for r in records) for p in first.seconds},
        cpu_seconds={p: [s for r in records for s in r.cpu_seconds[p]] for p in first.cpu_seconds},
        groups={"seed": np.repeat(seeds, sizes), "user": people},
    )


def mean_and_error(
    values: FloatArray, groups: Iterable[IntArray] = ()
) -> tuple[FloatArray, FloatArray]:
    """Return the mean over the first axis and its standard error (nan for a single row).

    Rows of one group (a seed, or a user who comes again with another seed) go up and down
    together. With V_g the variance if only groups of the kind g are drawn, and V_0 if all rows are,
    the variance of the mean is V_seed + V_user - V_0 (Cameron, Gelbach and Miller, 2011), and here
    never less than any one of the three.
    """
    n, mean = len(values), values.mean(axis=0)
    if n < 2:
        return mean, np.full(values.shape[1:], np.nan)
    apart = values - mean
    alone = _variance(apart, np.arange(n))
    between = [_variance(apart, group) for group in groups if len(np.unique(group)) > 1]
    variance = sum(between, start=alone * (1 - len(between)))
    return mean, np.sqrt(np.maximum.reduce([variance, alone, *between]))


def _variance(apart: FloatArray, group: IntArray) -> FloatArray:
    """Return the variance of a mean of which whole groups are drawn, from deviations."""
    names, place = np.unique(group, return_inverse=True)
    sums = np.zeros((len(names), *apart.shape[1:]))
    np.add.at(sums, place, apart)
    few = len(names) / (len(names) - 1)
    variance: FloatArray = few * (sums**2).sum(axis=0) / len(apart) ** 2
    return variance


Key = tuple[tuple[str, Any], ...]
"""The place of a part in an experiment: the value on each axis."""
AXIS_TITLES = {"n_states": "m", "c": "c / sigma"}
"""Axes that readers know under another name."""


class Records(dict[Key, Record]):
    """The records of an experiment, by key.

    ``data`` is the edition of the ratings, if there are any, and ``title`` tells more of them.
    """

    def __init__(self, records: Mapping[Key, Record], data: str = "", title: str = "") -> None:
        super().__init__(records)
        self.data = data
        self.title = title

    def at(self, **values: Any) -> Record:
        """Return the record at these values of the axes."""
        for key, record in self.items():
            if values.items() <= dict(key).items():
                return record
        raise LobError(f"no part at {', '.join(f'{k} = {v}' for k, v in values.items())}")

    def along(self, axis: str, **values: Any) -> dict[Any, Record]:
        """Return the records by their value on one axis, at these values of the others."""
        found = dict.fromkeys(dict(key)[axis] for key in self if axis in dict(key))
        return {value: self.at(**{axis: value}, **values) for value in found}


def axis_title(axis: str) -> str:
    """Return how readers know an axis."""
    return AXIS_TITLES.get(axis, axis)


def axis_values(key: Key) -> dict[str, Any]:
    """Return the values of a key under the names that readers know."""
    return {axis_title(axis): value for axis, value in key}


def key_text(key: Key) -> str:
    """Return a key as readers see it.

    Examples
    --------
    >>> key_text((("sigma", 1.0), ("n_states", 15)))
    'sigma = 1, m = 15'
    """
    return ", ".join(f"{axis} = {value_text(value)}" for axis, value in axis_values(key).items())


def value_text(value: Any) -> str:
    """Return a value as readers see it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
