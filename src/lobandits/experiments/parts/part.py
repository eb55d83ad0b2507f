"""A part: settings that decide its numbers, a guess of its cost, a run. Simulations, or calls."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from lobandits._checks import FloatArray
from lobandits.errors import LobError
from lobandits.experiments.parts.ratings import RatingData
from lobandits.experiments.parts.record import Record
from lobandits.simulation import Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.simulation.problems import Environment


Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""


@dataclass(frozen=True)
class Resources:
    """What parts are run with: the ratings at hand, and workers, which never change a number."""

    ratings: RatingData
    workers: int | None = None
    executor: Executor | None = None


class Part(Protocol):
    """A unit of work that leaves a record."""

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy."""

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Do the work."""


MOST_POINTS = 200
"""Rounds at which a simulation's regret is kept, at most."""


@dataclass(frozen=True)
class Simulation:
    """A run of :func:`lobandits.simulate` in "synthetic" or "movielens"; some rounds are kept."""

    environment: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    seed: int

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy.

        Orders cost more, the more states and the fewer relations there are.
        """
        dear = sum(name.startswith("lobts") for name in self.policies)
        each = len(self.policies) + dear * (4 + float(self.options.get("n_states", 15)) / 10)
        return self.n_users * self.horizon * each * (5 - 4 * float(self.options.get("q", 1.0)))

    def settings(self, ratings: RatingData) -> dict[str, Any]:
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

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        settings = self.settings(resources.ratings)
        env: Environment
        if self.environment == "synthetic":
            env = Synthetic(**self.options)
        else:
            env = movielens = resources.ratings.environment(**self.options)
            settings["states found"] = movielens.orders.n_states  # equal orders merge
        n_decisions = self.n_users * self.horizon * len(self.policies)
        result = simulate(
            env,
            self.policies,
            self.horizon,
            self.n_users,
            self.seed,
            workers=resources.workers,
            executor=resources.executor,
            progress=lambda decisions: advance(decisions / n_decisions),
        )
        points = kept_rounds(self.horizon)
        kept = points.astype(np.int64) - 1
        samples = {p: result.regret[p].cumsum(axis=1)[:, kept] for p in self.policies}
        return Record(settings, points, samples, result.seconds, result.cpu_seconds)


def kept_rounds(horizon: int) -> FloatArray:
    """Return evenly spaced rounds, the last of which is the horizon."""
    step = next(step for step in (1, 5, 10, 20, horizon) if horizon / step <= MOST_POINTS)
    if horizon % step:
        raise LobError(f"horizon {horizon} must be a multiple of {step}")
    return np.arange(step, horizon + 1, step, dtype=np.float64)


Measure = Callable[..., Mapping[str, FloatArray]]
"""A function that returns samples by label, each of shape (n,).

Its part is known by the text of the function's file: besides the layers below, and parts, it uses
nothing of this package that stands elsewhere.
"""


@dataclass(frozen=True)
class Measurement:
    """The call of a function with its options; ``on_ratings`` adds the ratings as the first."""

    measure: Measure
    options: Mapping[str, Any]
    on_ratings: bool = False
    cost: ClassVar[float] = 1e6

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON; the function counts by its file's text."""
        text = inspect.getsource(sys.modules[self.measure.__module__])
        return self._shown_settings(ratings) | {"text": text}

    def _shown_settings(self, ratings: RatingData) -> dict[str, Any]:
        settings = {"measure": self.measure.__name__, **self.options}
        return settings | ({"ratings": ratings.key} if self.on_ratings else {})

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Call the function."""
        began, cpu = time.perf_counter(), time.process_time()
        data = (resources.ratings,) if self.on_ratings else ()
        samples = self.measure(*data, **self.options)
        advance(1.0)
        return Record(
            settings=self._shown_settings(resources.ratings),
            points=np.ones(1),
            samples={label: np.asarray(v, dtype=float)[:, None] for label, v in samples.items()},
            seconds={self.measure.__name__: time.perf_counter() - began},
            cpu_seconds={self.measure.__name__: time.process_time() - cpu},
        )
