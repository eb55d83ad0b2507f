"""A part: settings that decide its numbers, a guess of its cost, a run. Simulations, or calls."""

import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.errors import LobError
from lobandits.experiments.parts.policies import spec
from lobandits.experiments.parts.ratings import RatingData
from lobandits.experiments.parts.record import Record
from lobandits.simulation import Result, Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.simulation.movielens import MovieLens


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


DEAR = ("lobids", "lobbayes", "mixts")
"""Policies of which a decision costs much more than others'."""
MOST_POINTS = 200
"""Rounds at which a simulation's regret is kept, at most."""


@dataclass(frozen=True)
class Simulation:
    """Runs of :func:`lobandits.simulate`; some rounds are kept.

    The environment is "synthetic", "movielens" (the ratings at hand) or "gaussian" (ratings of
    users without states). On ratings there is a run for each seed of these, with ``n_users`` each,
    or as many as there are. Policies are told ``c`` times the sigma of the environment. ``rounds``
    are kept, by default evenly spaced ones.
    """

    environment: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    seed: int
    c: float = 1.0
    rounds: tuple[int, ...] = ()

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy.

        Orders cost more, the more states and the fewer relations there are.
        """
        dear = sum(name.startswith("lobts") for name in self.policies)
        dear += 8 * sum(name in DEAR for name in self.policies)
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
        settings |= {"c": self.c} if self.c != 1 else {}
        settings |= {"rounds": list(self.rounds)} if self.rounds else {}
        if self.environment != "synthetic":
            own = self._ratings(ratings)
            settings |= {"ratings": own.key, "seeds": own.n_seeds}
        return settings

    def _ratings(self, ratings: RatingData) -> RatingData:
        """Return the ratings at hand, or those that have no states."""
        if self.environment == "movielens":
            return ratings
        return RatingData(None, ratings.seed, ratings.n_seeds, "gaussian")

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        settings = self.settings(resources.ratings)
        if self.environment == "synthetic":
            env = Synthetic(**self.options)
            runs = [self._simulate(env, self.seed, resources, advance, self.n_users)]
            groups: dict[str, IntArray] = {}
        else:
            draws = self._ratings(resources.ratings).draws
            envs = [draw.environment(**self.options) for draw in draws]
            n = settings["users"] = min([self.n_users, *(env.n_users for env in envs)])
            seeds = [draw.seed for draw in draws]
            runs = self._simulate_each(envs, seeds, resources, advance, n)
            settings["states found"] = [env.orders.n_states for env in envs]  # equal orders merge
            groups = _groups(draws, envs, n)
        points = self._kept()
        kept = points.astype(np.int64) - 1
        samples = {
            p: np.concatenate([run.regret[p].cumsum(axis=1)[:, kept] for run in runs])
            for p in self.policies
        }
        seconds = {p: sum(run.seconds[p] for run in runs) for p in self.policies}
        each = {p: [run.cpu_seconds[p] for run in runs] for p in self.policies}
        return Record(settings, points, samples, seconds, each, groups)

    def _simulate_each(
        self,
        envs: "Sequence[MovieLens]",
        seeds: Sequence[int],
        resources: Resources,
        advance: Advance,
        n_users: int,
    ) -> list[Result]:
        """Simulate with every seed, on threads of our own several at once.

        With few users a round is mostly Python: two threads that share the users of one seed take
        half as much processor time again as one thread does with all of them.
        """
        own = resources.executor is None
        workers = resources.workers or os.cpu_count() or 1
        each = replace(resources, workers=-(-workers // len(seeds))) if own else resources
        stop = Event()

        def scaled(share: float) -> None:
            if stop.is_set():
                raise CancelledError
            advance(share / len(seeds))

        def one(env: "MovieLens", seed: int) -> Result:
            return self._simulate(env, seed, each, scaled, n_users)

        with ThreadPoolExecutor(min(workers, len(seeds)) if own else 1) as pool:
            try:
                return list(pool.map(one, envs, seeds))
            except BaseException:
                stop.set()
                raise

    def _simulate(
        self,
        env: "Synthetic | MovieLens",
        seed: int,
        resources: Resources,
        advance: Advance,
        n_users: int,
    ) -> Result:
        n_decisions = n_users * self.horizon * len(self.policies)
        return simulate(
            env,
            {label: spec(label, env, self.horizon, self.c) for label in self.policies},
            self.horizon,
            n_users,
            seed,
            workers=resources.workers,
            executor=resources.executor,
            progress=lambda decisions: advance(decisions / n_decisions),
        )

    def _kept(self) -> FloatArray:
        if self.rounds:
            return np.array([t for t in self.rounds if t <= self.horizon], dtype=np.float64)
        return kept_rounds(self.horizon)


def _groups(
    draws: Sequence[RatingData], envs: "Sequence[MovieLens]", n_users: int
) -> dict[str, IntArray]:
    """Return each row's seed, and who its user is."""
    if len(draws) == 1:
        return {}
    people = [
        draw.people(env.shuffled_users(draw.seed)[:n_users])
        for draw, env in zip(draws, envs, strict=True)
    ]
    seeds = np.repeat([draw.seed for draw in draws], n_users)
    return {"seed": seeds, "user": np.concatenate(people)}


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
        on_ratings = {"ratings": ratings.key, "seeds": ratings.n_seeds}
        return settings | (on_ratings if self.on_ratings else {})

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Call the function; on ratings, once for each seed of these."""
        began, cpu = time.perf_counter(), time.process_time()
        draws = resources.ratings.draws if self.on_ratings else ()
        found = [self.measure(draw, **self.options) for draw in draws]
        found = found or [self.measure(**self.options)]
        advance(1.0)
        samples = {label: np.concatenate([each[label] for each in found]) for label in found[0]}
        return Record(
            settings=self._shown_settings(resources.ratings),
            points=np.ones(1),
            samples={label: v.astype(np.float64)[:, None] for label, v in samples.items()},
            seconds={self.measure.__name__: time.perf_counter() - began},
            cpu_seconds={self.measure.__name__: [time.process_time() - cpu]},
            groups=_groups_of_all(draws, [len(next(iter(each.values()))) for each in found]),
        )


def _groups_of_all(draws: Sequence[RatingData], sizes: Sequence[int]) -> dict[str, IntArray]:
    """Return the seed and the user of each row, where every seed has all users in one order."""
    if len(draws) < 2:
        return {}
    people = [d.people(np.arange(n)) for d, n in zip(draws, sizes, strict=True)]
    seeds = np.repeat([d.seed for d in draws], sizes)
    return {"seed": seeds, "user": np.concatenate(people)}
