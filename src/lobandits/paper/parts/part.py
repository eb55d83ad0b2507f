"""A part: what is run once and saved, for one seed: a simulation, or the call of a function."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Executor
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobError
from lobandits.paper.parts.policies import spec
from lobandits.paper.parts.ratings import RatingData
from lobandits.paper.parts.record import Record
from lobandits.simulation import Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.paper.movielens import MovieLens


class Part(Protocol):
    """A unit of work that leaves a record; on ratings there is one for each seed of these."""

    @property
    def on_ratings(self) -> bool:
        """Whether the numbers depend on ratings, not on the seed alone."""

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""

    def run(self, ratings: RatingData, stop: Event, executor: Executor | None = None) -> Record:
        """Do the work with the seed of the ratings, on the executor if it can; end on ``stop``."""


MOST_POINTS = 200
"""Rounds at which a simulation's regret is kept, at most."""


@dataclass(frozen=True)
class Simulation:
    """A run of :func:`lobandits.simulate`; some rounds are kept.

    The environment is "synthetic", "movielens" (the ratings at hand) or "gaussian" (ratings of
    users without states). There are ``n_users``, on ratings at most as many as these have. Policies
    are told ``c`` times the sigma of the environment. ``rounds`` are kept, by default evenly spaced
    ones.
    """

    environment: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    c: float = 1.0
    rounds: tuple[int, ...] = ()

    @property
    def on_ratings(self) -> bool:
        """Whether users come from ratings."""
        return self.environment != "synthetic"

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""
        settings = {
            "environment": self.environment,
            **self.options,
            "policies": list(self.policies),
            "horizon": self.horizon,
            "users": self.n_users,
            "seed": ratings.seed,
        }
        settings |= {"c": self.c} if self.c != 1 else {}
        settings |= {"rounds": list(self.rounds)} if self.rounds else {}
        return settings | ({"ratings": self._own(ratings).key} if self.on_ratings else {})

    def _own(self, ratings: RatingData) -> RatingData:
        """Return the ratings at hand, or those that have no states."""
        return ratings.gaussian if self.environment == "gaussian" else ratings

    def run(self, ratings: RatingData, stop: Event, executor: Executor | None = None) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        settings, own, n = self.settings(ratings), self._own(ratings), self.n_users
        env: Synthetic | MovieLens
        if self.on_ratings:
            env = own.environment(**self.options)
            n = settings["users"] = min(n, env.n_users)
            settings["states found"] = env.orders.n_states  # equal orders merge
            people = own.people(env.shuffled_users(own.seed)[:n])
        else:
            env, people = Synthetic(**self.options), np.arange(n)

        def go_on(decisions: int) -> None:
            if stop.is_set():
                raise CancelledError

        result = simulate(
            env,
            {label: spec(label, env, self.horizon, self.c) for label in self.policies},
            self.horizon,
            n,
            ratings.seed,
            workers=1,
            executor=executor,
            progress=go_on,
        )
        points = self._kept()
        kept = points.astype(np.int64) - 1
        samples = {p: result.regret[p].cumsum(axis=1)[:, kept] for p in self.policies}
        each = {p: [seconds] for p, seconds in result.cpu_seconds.items()}
        return Record(settings, points, samples, people, result.seconds, each)

    def _kept(self) -> FloatArray:
        if self.rounds:
            return np.array([t for t in self.rounds if t <= self.horizon], dtype=np.float64)
        return kept_rounds(self.horizon)


def kept_rounds(horizon: int) -> FloatArray:
    """Return evenly spaced rounds, the last of which is the horizon."""
    step = next(step for step in (1, 5, 10, 20, horizon) if horizon / step <= MOST_POINTS)
    if horizon % step:
        raise LobError(f"horizon {horizon} must be a multiple of {step}")
    return np.arange(step, horizon + 1, step, dtype=np.float64)


Measure = Callable[..., Mapping[str, FloatArray]]
"""A function that returns samples by label, each of shape (n,), from its options and a seed.

Its part is known by the text of the function's file: besides the layers below, and parts, it uses
nothing of this package that stands elsewhere.
"""


@dataclass(frozen=True)
class Measurement:
    """The call of a function with its options; ``on_ratings`` adds the ratings as the first."""

    measure: Measure
    options: Mapping[str, Any]
    on_ratings: bool = False

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON; the function counts by its file's text."""
        text = inspect.getsource(sys.modules[self.measure.__module__])
        return self._shown_settings(ratings) | {"text": text}

    def _shown_settings(self, ratings: RatingData) -> dict[str, Any]:
        settings = {"measure": self.measure.__name__, **self.options, "seed": ratings.seed}
        return settings | ({"ratings": ratings.key} if self.on_ratings else {})

    def run(self, ratings: RatingData, stop: Event, executor: Executor | None = None) -> Record:
        """Call the function."""
        wall, cpu = time.perf_counter(), time.thread_time()
        given = [ratings] if self.on_ratings else []
        found = self.measure(*given, **self.options, seed=ratings.seed)
        wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
        samples = {label: np.asarray(v, np.float64)[:, None] for label, v in found.items()}
        rows = np.arange(len(next(iter(samples.values()))))
        return Record(
            settings=self._shown_settings(ratings),
            points=np.ones(1),
            samples=samples,
            people=ratings.people(rows) if self.on_ratings else rows,
            seconds={self.measure.__name__: wall},
            cpu_seconds={self.measure.__name__: [cpu]},
        )
