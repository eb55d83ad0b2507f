"""The ratings behind the MovieLens figures: an edition of MovieLens, or generated ones."""

from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray, IntArray

if TYPE_CHECKING:
    from lobandits.paper.movielens import MovieLens

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
    """Ratings of one seed, read or made when a part first asks for them; threads may share them.

    Without the ``path`` of a MovieLens edition they are generated. ``seed`` names those, the genres
    of movies that have several, and the clustering.
    """

    def __init__(
        self, path: Path | None = None, seed: int = 0, generator: Generator = "planted"
    ) -> None:
        self.path, self.seed, self.generator = path, seed, generator
        self._environments: dict[tuple[int, float], MovieLens] = {}
        self._clustering = Lock()

    def draws(self, n_seeds: int) -> list["RatingData"]:
        """Return the ratings of so many seeds, from this one on; an edition is read once, now."""
        seeds = range(self.seed + 1, self.seed + n_seeds)
        others = [RatingData(self.path, seed, self.generator) for seed in seeds]
        if self.path is not None:
            for other in others:
                other.__dict__["ratings"] = self.ratings
        return [self, *others]

    @cached_property
    def gaussian(self) -> "RatingData":
        """Generated ratings that have no states, of the same seed."""
        return RatingData(None, self.seed, "gaussian")

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides the ratings, without reading them: sizes of files, and the filters."""
        if self.path is None:
            return {"generator": self.generator} | GENERATED_OPTIONS[self.generator]
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        sizes = {file.name: file.stat().st_size for file in files if file.is_file()}
        filters = {"paper": PAPER_FILTER, "small": SMALL_FILTER, "small below": SMALL}
        return {"bytes": sizes, "filters": filters}

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
        """Return the environment; what decides the clustering is done once."""
        key = n_states, hold_out
        with self._clustering:
            if key not in self._environments:
                env = self._unclustered.replace(n_states=n_states, hold_out=hold_out)
                self._environments[key] = env
            env = self._environments[key]
            env.clusters  # noqa: B018  # cluster now: what `replace` makes of it has it, too
        return env.replace(**options)

    @cached_property
    def _unclustered(self) -> "MovieLens":
        from lobandits.paper.movielens import MovieLens

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

        table = self._unclustered.table
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
