"""A part: settings that decide its numbers, a guess of its cost, a run. Simulations, or calls."""

import inspect
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.errors import LobError
from lobandits.paper.parts.policies import FROM_LOGS, spec
from lobandits.paper.parts.ratings import Call, RatingData, here
from lobandits.paper.parts.record import Record
from lobandits.simulation import Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.paper.movielens.environment import MovieLens

T = TypeVar("T")
Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""


def caller(executor: Executor | None) -> Call:
    """Return what calls a function on the executor, and waits; without one, here."""
    if executor is None:
        return here
    return lambda function, *args: executor.submit(function, *args).result()


@dataclass(frozen=True)
class Resources:
    """What parts are run with: the ratings at hand, and workers, which never change a number.

    Once ``stop`` is set, parts end with `CancelledError` as soon as they can.
    """

    ratings: RatingData
    workers: int | None = None
    executor: Executor | None = None
    stop: Event = field(default_factory=Event)

    @property
    def call(self) -> Call:
        """Calls a function where there are workers for it."""
        return caller(self.executor)


class Part(Protocol):
    """A unit of work that leaves a record."""

    @property
    def cost(self) -> float:
        """A guess of the work, in decisions of a simple policy."""

    def settings(self, ratings: RatingData) -> dict[str, Any]:
        """Return all that decides the numbers, as JSON."""

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Do the work."""


ROUND = 20
"""What a round costs whatever the users, in decisions: with few users it is mostly Python."""
LEARNING = 5e7
"""What a prior costs, learned from logs."""
USUAL_SEEDS = 5
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

        Orders that are read in every round cost more, the more states and the fewer relations.
        """
        orders = sum(name in ("lobucb", "lobts", "lobids", "lobimed") for name in self.policies)
        dear = orders * float(self.options.get("n_states", 15)) / 7
        each = len(self.policies) + dear * (2 - float(self.options.get("q", 1.0)))
        seed = (self.n_users + ROUND) * self.horizon * each
        if self.environment == "synthetic":
            return seed
        return USUAL_SEEDS * (seed + LEARNING * bool(set(self.policies) & set(FROM_LOGS)))

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
        return RatingData(None, ratings.seed, ratings.n_seeds, "gaussian", ratings.call)

    def run(self, resources: Resources, advance: Advance) -> Record:
        """Simulate, and keep every user's cumulative regret at the kept rounds."""
        settings = self.settings(resources.ratings)
        groups: dict[str, IntArray] = {}
        if self.environment == "synthetic":
            env = Synthetic(**self.options)
            runs = [self._simulate(env, self.seed, resources, advance, self.n_users)]
        else:
            draws = self._ratings(resources.ratings).draws
            envs = _for_each(resources, lambda draw: self._learned(draw, resources), draws)
            n = settings["users"] = min([self.n_users, *(env.n_users for env in envs)])
            runs = self._simulate_each(envs, draws, resources, advance, n)
            settings["states found"] = [env.orders.n_states for env in envs]  # equal orders merge
            groups = _groups(draws, envs, n)
        samples = {p: np.concatenate([run.samples[p] for run in runs]) for p in self.policies}
        seconds = {p: sum(run.seconds[p] for run in runs) for p in self.policies}
        each = {p: [run.cpu_seconds[p] for run in runs] for p in self.policies}
        return Record(settings, self._kept(), samples, seconds, each, groups)

    def _learned(self, draw: RatingData, resources: Resources) -> "MovieLens":
        """Return the environment of one seed, with what its policies learn from logs."""
        env = draw.environment(**self.options)
        if env.past is not None and set(self.policies) & set(FROM_LOGS):
            env.past.learn(resources.call)
        return env

    def _simulate_each(
        self,
        envs: "Sequence[MovieLens]",
        draws: Sequence[RatingData],
        resources: Resources,
        advance: Advance,
        n_users: int,
    ) -> "list[_SeedRun]":
        """Simulate with every seed, several at once; what stops one stops all.

        With few users a round is mostly Python: two threads that share the users of one seed take
        half as much processor time again as one thread does with all of them.
        """
        each = replace(resources, workers=-(-_n_workers(resources) // len(draws)))
        stop = Event()

        def scaled(share: float) -> None:
            if stop.is_set() and resources.executor is None:
                raise CancelledError
            advance(share / len(draws))

        def one(env: "MovieLens", draw: RatingData) -> _SeedRun:
            if stop.is_set() or resources.stop.is_set():
                raise CancelledError
            return self._simulate(env, draw.seed, each, scaled, n_users)

        return _for_each(resources, one, envs, draws, stop=stop)

    def _simulate(
        self,
        env: "Synthetic | MovieLens",
        seed: int,
        resources: Resources,
        advance: Advance,
        n_users: int,
    ) -> "_SeedRun":
        n_decisions = n_users * self.horizon * len(self.policies)

        def progress(decisions: int) -> None:
            if resources.stop.is_set() and resources.executor is None:  # else nobody hears it
                raise CancelledError
            advance(decisions / n_decisions)

        result = simulate(
            env,
            {label: spec(label, env, self.horizon, self.c) for label in self.policies},
            self.horizon,
            n_users,
            seed,
            workers=resources.workers,
            executor=resources.executor,
            progress=progress,
        )
        kept = self._kept().astype(np.int64) - 1
        samples = {p: result.regret[p].cumsum(axis=1)[:, kept] for p in self.policies}
        return _SeedRun(samples, result.seconds, result.cpu_seconds)

    def _kept(self) -> FloatArray:
        if self.rounds:
            return np.array([t for t in self.rounds if t <= self.horizon], dtype=np.float64)
        return kept_rounds(self.horizon)


class _SeedRun(NamedTuple):
    """What is kept of one seed: regret at the kept rounds, and times, by policy."""

    samples: Mapping[str, FloatArray]
    seconds: Mapping[str, float]
    cpu_seconds: Mapping[str, float]


def _n_workers(resources: Resources) -> int:
    return resources.workers or os.cpu_count() or 1


def _for_each(
    resources: Resources,
    function: Callable[..., T],
    *seeds: Sequence[Any],
    stop: Event | None = None,
) -> list[T]:
    """Call the function for every seed, so many at once as there are workers.

    If it fails for one, ``stop`` is set, and those that are under way are waited for.
    """
    with ThreadPoolExecutor(min(_n_workers(resources), len(seeds[0]))) as pool:
        try:
            return list(pool.map(function, *seeds))
        except BaseException:
            (stop or Event()).set()
            raise


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
        draws = resources.ratings.draws if self.on_ratings else ()
        runs = [_timed(self.measure, draw, **self.options) for draw in draws]
        if not draws:
            runs = [resources.call(partial(_timed, self.measure, **self.options))]
        advance(1.0)
        found = [run.samples for run in runs]
        samples = {label: np.concatenate([each[label] for each in found]) for label in found[0]}
        name = self.measure.__name__
        return Record(
            settings=self._shown_settings(resources.ratings),
            points=np.ones(1),
            samples={label: v.astype(np.float64)[:, None] for label, v in samples.items()},
            seconds={name: sum(run.seconds[name] for run in runs)},
            cpu_seconds={name: [sum(run.cpu_seconds[name] for run in runs)]},
            groups=_groups_of_all(draws, [len(next(iter(each.values()))) for each in found]),
        )


def _timed(measure: Measure, *args: Any, **options: Any) -> _SeedRun:
    """Return what a function found, and the time that this thread took."""
    wall, cpu = time.perf_counter(), time.thread_time()
    found = measure(*args, **options)
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu
    return _SeedRun(found, {measure.__name__: wall}, {measure.__name__: cpu})


def _groups_of_all(draws: Sequence[RatingData], sizes: Sequence[int]) -> dict[str, IntArray]:
    """Return the seed and the user of each row, where every seed has all users in one order."""
    if len(draws) < 2:
        return {}
    people = [d.people(np.arange(n)) for d, n in zip(draws, sizes, strict=True)]
    seeds = np.repeat([d.seed for d in draws], sizes)
    return {"seed": seeds, "user": np.concatenate(people)}
