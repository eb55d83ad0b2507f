"""The ratings behind the MovieLens figures: an edition of MovieLens, or generated ones."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lobandits.simulation.movielens import MovieLens

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
            "data": GENERATED if self.path is None else str(self.ratings.edition),
            "users": env.n_users,
            "genres": env.n_arms,
            "ratings": int(env.table.n_rewards),
            "imputed share of genre means": round(env.imputed_share, 4),
        }
        if self.path is not None:
            facts["least ratings of a movie"], facts["least ratings of a user"] = self.filters
        return facts
