"""Parts: the units of work that are run once, saved, and shared between figures; and their data."""

import inspect
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lobandits._checks import FloatArray
from lobandits.experiments.record import Record, kept_rounds
from lobandits.simulation import Synthetic, simulate

if TYPE_CHECKING:
    from lobandits.simulation.movielens import MovieLens
    from lobandits.simulation.problems import Environment

Advance = Callable[[float], None]
"""Called with the share of a part that was just done."""
GENERATED = "generated data"
GENERATED_OPTIONS: dict[str, Any] = {
    "n_users": 1000,
    "n_arms": 19,
    "n_states": 60,
    "ratings_per_user": 400,
}
PAPER_FILTER, SMALL_FILTER = (200, 200), (20, 100)
"""Least ratings of a movie, and of a user: the paper's, and those of a small edition."""
SMALL = 1_000_000
"""An edition with fewer ratings is small."""


class RatingData:
    """Ratings that are read, or made, when a part first asks for them.

    Without the ``path`` of a MovieLens edition they are generated. ``seed`` names those, the genres
    of movies that have several, and the clustering.
    """

    def __init__(self, path: Path | None = None, seed: int = 0) -> None:
        self.path = path
        self.seed = seed
        self._environments: dict[int, MovieLens] = {}

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides the ratings, without reading them: sizes of files, and the filters."""
        if self.path is None:
            return GENERATED_OPTIONS | {"seed": self.seed}
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        sizes = {file.name: file.stat().st_size for file in files if file.is_file()}
        filters = {"paper": PAPER_FILTER, "small": SMALL_FILTER, "small below": SMALL}
        return {"bytes": sizes, "filters": filters, "seed": self.seed}

    @cached_property
    def ratings(self) -> Any:
        """The ratings themselves."""
        from lobandits.learning import load_movielens, make_ratings

        if self.path is not None:
            return load_movielens(self.path)
        return make_ratings(**GENERATED_OPTIONS, seed=self.seed)

    @property
    def edition(self) -> str:
        """The edition of MovieLens, or "generated data"."""
        return GENERATED if self.path is None else str(self.ratings.edition)

    @cached_property
    def title(self) -> str:
        """What stands in the title of every figure: the edition, its users and its genres."""
        facts = self.facts()
        return f"{self.edition}: {facts['users']:,} users, {facts['genres']} genres"

    @cached_property
    def filters(self) -> tuple[int, int]:
        """Least ratings of a movie, and of a user."""
        large = self.path is not None and self.ratings.n_ratings >= SMALL
        return PAPER_FILTER if large else SMALL_FILTER

    def environment(self, n_states: int, **options: Any) -> "MovieLens":
        """Return the environment with so many states; each number is clustered once."""
        from lobandits.simulation.movielens import MovieLens

        known = self._environments
        if not known:
            movies, users = self.filters
            known[n_states] = MovieLens(
                self.ratings,
                n_states=n_states,
                min_movie_ratings=movies,
                min_user_ratings=users,
                seed=self.seed,
                progress=False,
            )
        elif n_states not in known:
            known[n_states] = next(iter(known.values())).replace(n_states=n_states)
        return known[n_states].replace(**options)

    def facts(self) -> dict[str, Any]:
        """Return what the report says of the ratings."""
        env = next(iter(self._environments.values()), None) or self.environment(n_states=2)
        facts = {
            "data": self.edition,
            "users": env.n_users,
            "genres": env.n_arms,
            "ratings": int(env.table.n_rewards),
            "imputed share of genre means": round(env.imputed_share, 4),
        }
        if self.path is not None:
            facts["least ratings of a movie"], facts["least ratings of a user"] = self.filters
        return facts


@dataclass(frozen=True)
class Workplace:
    """Where parts run: the ratings at hand, and the workers. It never changes a number."""

    ratings: RatingData
    workers: int | None = None
    executor: Executor | None = None


@dataclass(frozen=True)
class Simulation:
    """A run of :func:`lobandits.simulate`, of which some rounds are kept.

    ``environment`` is "synthetic" or "movielens", and ``options`` its parameters.
    """

    environment: str
    options: Mapping[str, Any]
    policies: tuple[str, ...]
    horizon: int
    n_users: int
    seed: int

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
    """A function of the options that returns samples by label, each of shape (n,).

    With ``on_ratings`` the function is also given the ratings, as its first argument.
    """

    measure: Callable[..., Mapping[str, FloatArray]]
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
