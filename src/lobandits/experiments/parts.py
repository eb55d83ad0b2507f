"""Parts: the units of work that are run once, saved, and shared between figures."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.data import RatingData
from lobandits.experiments.record import Record, kept_rounds
from lobandits.simulation import Synthetic, simulate
from lobandits.simulation.problems import Environment

Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""
Measure = Callable[..., Mapping[str, FloatArray]]


@dataclass(frozen=True)
class Workplace:
    """Where parts run: the ratings at hand, and the workers. It never changes a number."""

    ratings: RatingData
    workers: int | None = None
    executor: Executor | None = None


class Part(Protocol):
    """One unit of work."""

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""

    @property
    def cost(self) -> float:
        """Return a guess of the work, in decisions of a simple policy."""

    def run(self, place: Workplace, advance: Advance) -> Record:
        """Do the work."""


@dataclass(frozen=True)
class Simulation:
    """A run of :func:`lobandits.simulate`, of which some rounds are kept.

    ``environment`` is "synthetic" or "movielens", and ``options`` its parameters.
    """

    environment: str
    options: tuple[tuple[str, Any], ...]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    seed: int

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""
        settings = {
            "environment": self.environment,
            **dict(self.options),
            "policies": list(self.policies),
            "horizon": self.horizon,
            "users": self.n_users,
            "seed": self.seed,
        }
        return settings | ({"ratings": ratings.key} if self.environment == "movielens" else {})

    @property
    def cost(self) -> float:
        """Return a guess of the work: orders cost more, the more states and the fewer relations."""
        options = dict(self.options)
        dear = sum(name.startswith("lobts") for name in self.policies)
        each = len(self.policies) + dear * (4 + float(options.get("n_states", 15)) / 10)
        return self.n_users * self.horizon * each * (5 - 4 * float(options.get("q", 1.0)))

    def run(self, place: Workplace, advance: Advance) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        n_decisions = self.n_users * self.horizon * len(self.policies)
        env = self._environment(place.ratings)
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
        places = points.astype(np.int64) - 1
        return Record(
            settings=self.settings(place.ratings) | _found_states(env),
            points=points,
            samples={p: result.regret[p].cumsum(axis=1)[:, places] for p in self.policies},
            seconds=result.seconds,
            cpu_seconds=result.cpu_seconds,
        )

    def _environment(self, ratings: RatingData) -> Environment:
        if self.environment == "synthetic":
            return Synthetic(**dict(self.options))
        return ratings.environment(**dict(self.options))


@dataclass(frozen=True)
class Measurement:
    """A function of the options that returns samples by label, each of shape (n,).

    With ``on_ratings`` the function is also given the ratings, as its first argument.
    """

    measure: Measure
    options: tuple[tuple[str, Any], ...]
    on_ratings: bool = False
    cost: float = 1e6

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON; the function counts by its file's text."""
        settings = {"measure": self.measure.__name__, **dict(self.options)}
        settings["text"] = inspect.getsource(sys.modules[self.measure.__module__])
        return settings | ({"ratings": ratings.key} if self.on_ratings else {})

    def run(self, place: Workplace, advance: Advance) -> Record:
        """Call the function."""
        began, cpu = time.perf_counter(), time.process_time()
        data = (place.ratings,) if self.on_ratings else ()
        samples = self.measure(*data, **dict(self.options))
        advance(1.0)
        settings = self.settings(place.ratings)
        del settings["text"]
        return Record(
            settings=settings,
            points=np.ones(1),
            samples={label: np.asarray(v, dtype=float)[:, None] for label, v in samples.items()},
            seconds={self.measure.__name__: time.perf_counter() - began},
            cpu_seconds={self.measure.__name__: time.process_time() - cpu},
        )


def _found_states(env: Environment) -> dict[str, int]:
    """Return how many states the clustering left, where there was one: equal orders merge."""
    from lobandits.simulation.movielens import MovieLens

    return {"states found": env.orders.n_states} if isinstance(env, MovieLens) else {}
