"""The ratings behind the MovieLens figures: an edition of MovieLens, or generated ones."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from lobandits.paper.movielens.environment import MovieLens

Call = Callable[..., Any]
"""Calls a function with arguments, here or in another process, and returns what it returns."""


def here(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in this thread."""
    return function(*args)


Generator = Literal["planted", "gaussian"]
GENERATED: dict[str, str] = {
    "planted": "generated data with 60 planted orders",
    "gaussian": "generated data without states, one Gaussian",
}
"""What figures and verdicts say of ratings that are not real."""
GENERATED_OPTIONS: dict[str, dict[str, Any]] = {
    "planted": {"n_users": 1000, "n_arms": 19, "n_states": 60, "ratings_per_user": 400},
    "gaussian": {"n_users": 1000, "n_arms": 19, "ratings_per_user": 400},
}
PAPER_FILTER, SMALL_FILTER = (200, 200), (20, 100)
"""Least ratings of a movie, and of a user: the paper's, and those of a small edition."""
SMALL = 1_000_000
"""An edition with fewer ratings is small."""


class RatingData:
    """Ratings that are read, or made, when a part first asks for them; threads may share them.

    Without the ``path`` of a MovieLens edition they are generated. ``seed`` names those, the genres
    of movies that have several, and the clustering; there are ``n_seeds`` draws, from ``seed`` on.
    Users are clustered by ``call(function, *arguments)``.
    """

    def __init__(
        self,
        path: Path | None = None,
        seed: int = 0,
        n_seeds: int = 1,
        generator: Generator = "planted",
        call: Call = here,
    ) -> None:
        self.path, self.seed, self.n_seeds, self.generator = path, seed, n_seeds, generator
        self.call = call
        self._environments: dict[tuple[int, float], MovieLens] = {}
        self._clustering = Lock()

    @cached_property
    def draws(self) -> tuple["RatingData", ...]:
        """The same with one seed each; an edition is read once."""
        if self.n_seeds == 1:
            return (self,)
        seeds = range(self.seed, self.seed + self.n_seeds)
        each = tuple(RatingData(self.path, s, 1, self.generator, self.call) for s in seeds)
        if self.path is not None:
            for draw in each:
                draw.__dict__["ratings"] = self.ratings
        return each

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides the ratings, without reading them: sizes of files, and the filters."""
        seeds = {"seed": self.seed, "seeds": self.n_seeds}
        if self.path is None:
            return {"generator": self.generator} | GENERATED_OPTIONS[self.generator] | seeds
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        sizes = {file.name: file.stat().st_size for file in files if file.is_file()}
        filters = {"paper": PAPER_FILTER, "small": SMALL_FILTER, "small below": SMALL}
        return {"bytes": sizes, "filters": filters} | seeds

    @cached_property
    def ratings(self) -> Any:
        """The ratings themselves."""
        from lobandits.learning import make_gaussian_ratings, make_ratings
        from lobandits.paper.movielens.ratings import load_movielens

        if self.path is not None:
            return load_movielens(self.path)
        make: Any = make_ratings if self.generator == "planted" else make_gaussian_ratings
        return make(**GENERATED_OPTIONS[self.generator], seed=self.seed)

    @property
    def name(self) -> str:
        """The edition, or what was generated."""
        return GENERATED[self.generator] if self.path is None else str(self.ratings.edition)

    @cached_property
    def filters(self) -> tuple[int, int]:
        """Least ratings of a movie, and of a user."""
        large = self.path is not None and self.ratings.n_ratings >= SMALL
        return PAPER_FILTER if large else SMALL_FILTER

    def environment(self, n_states: int, hold_out: float = 0.0, **options: Any) -> "MovieLens":
        """Return the environment of the first seed; what decides the clustering is done once."""
        if self.n_seeds > 1:
            return self.draws[0].environment(n_states, hold_out, **options)
        key = n_states, hold_out
        with self._clustering:
            if key not in self._environments:
                self._environments[key] = self._clustered(n_states, hold_out)
        return self._environments[key].replace(**options)

    def _clustered(self, n_states: int, hold_out: float) -> "MovieLens":
        env = self._unclustered.replace(n_states=n_states, hold_out=hold_out)
        env.cluster(self.call)
        return env

    @cached_property
    def _unclustered(self) -> "MovieLens":
        from lobandits.paper.movielens.environment import MovieLens

        movies, users = self.filters
        return MovieLens(
            self.ratings,
            n_states=1,  # never clustered
            min_movie_ratings=movies,
            min_user_ratings=users,
            seed=self.seed,
            progress=False,
        )

    def people(self, users: IntArray) -> IntArray:
        """Return who these users are: generated ones are others for each seed."""
        apart = 0 if self.path is not None else 10_000_000 * self.seed
        return np.asarray(users, dtype=np.int64) + apart

    def violations(self, n_states: int, alpha: float) -> FloatArray:
        """Return how many of its state's neighbours each user's means put in the wrong order."""
        env = self.environment(n_states, alpha=alpha)
        rankings = np.array([order.ranking for order in env.orders])[env.clusters.states]
        ranked = np.take_along_axis(env.means, rankings, axis=1)
        wrong: FloatArray = (np.diff(ranked, axis=1) > 0).sum(axis=1).astype(np.float64)
        return wrong

    def count_movies(self) -> int:
        """Return how many movies the users who remain rated, of those that remain; 0: generated."""
        if self.path is None:
            return 0
        least_of_movie, least_of_user = self.filters
        rows = self.ratings.ratings
        users, movies = rows["userId"].to_numpy(), rows["movieId"].to_numpy()
        kept = _come_at_least(least_of_movie, movies)
        users, movies = users[kept], movies[kept]
        return len(np.unique(movies[_come_at_least(least_of_user, users)]))

    def facts(self) -> dict[str, Any]:
        """Return what the report says of the ratings."""
        from lobandits.paper.clustering.impute import impute

        table = self.draws[0]._unclustered.table
        facts = {
            "data": self.name,
            "users": table.n_users,
            "genres": table.n_arms,
            "ratings": int(table.n_rewards),
            "imputed share of genre means": round(impute(table.means)[1], 4),
        }
        if self.path is not None:
            facts["movies"] = self.count_movies()
            facts["least ratings of a movie"], facts["least ratings of a user"] = self.filters
        return facts


def _come_at_least(times: int, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell, for each value, whether it comes so many times."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    often: NDArray[np.bool_] = count[place] >= times
    return often
