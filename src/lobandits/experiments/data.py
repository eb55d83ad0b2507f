"""The ratings behind the real-data figures: a MovieLens edition, or generated ones."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lobandits.simulation import MovieLens

GENERATED = "generated data"
GENERATED_USERS, GENERATED_ARMS, GENERATED_STATES = 1000, 19, 60
PAPER_FILTER, SMALL_FILTER = (200, 200), (20, 100)
"""Least ratings of a movie, and of a user: the paper's, and those of a small edition."""
SMALL = 1_000_000
"""An edition with fewer ratings is small."""


class RatingData:
    """Ratings that are read, or made, when a part first asks for them.

    Parameters
    ----------
    path
        Folder or zip of a MovieLens edition; None generates ratings.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._environments: dict[int, MovieLens] = {}

    @cached_property
    def key(self) -> dict[str, Any]:
        """What decides the ratings, without reading them: names and sizes of files."""
        if self.path is None:
            sizes = [GENERATED_USERS, GENERATED_ARMS, GENERATED_STATES]
            return {"generated": sizes}
        files = sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]
        return {file.name: file.stat().st_size for file in files if file.is_file()}

    @cached_property
    def ratings(self) -> Any:
        """The ratings themselves."""
        from lobandits.learning import load_movielens, make_ratings

        if self.path is not None:
            return load_movielens(self.path)
        return make_ratings(GENERATED_USERS, GENERATED_ARMS, GENERATED_STATES, seed=0)

    @property
    def title(self) -> str:
        """What stands in the title of every figure: "generated data", or the edition."""
        return GENERATED if self.path is None else str(self.ratings.edition)

    @cached_property
    def filters(self) -> tuple[int, int]:
        """Least ratings of a movie, and of a user."""
        if self.path is not None and self.ratings.n_ratings >= SMALL:
            return PAPER_FILTER
        return SMALL_FILTER

    def environment(self, n_states: int, **options: Any) -> "MovieLens":
        """Return the environment with so many states; each number is clustered once."""
        if n_states not in self._environments:
            self._environments[n_states] = self._new_environment(n_states)
        return self._environments[n_states].replace(**options)

    def _new_environment(self, n_states: int) -> "MovieLens":
        from lobandits.simulation import MovieLens

        if self._environments:
            return next(iter(self._environments.values())).replace(n_states=n_states)
        movies, users = self.filters
        return MovieLens(
            self.ratings,
            n_states=n_states,
            min_movie_ratings=movies,
            min_user_ratings=users,
            progress=False,
        )

    def facts(self) -> dict[str, Any]:
        """Return what the report says of the ratings."""
        env = next(iter(self._environments.values()), None) or self.environment(n_states=2)
        return {
            "data": self.title,
            "users": env.n_users,
            "genres": env.n_arms,
            "ratings": int(env.table.n_rewards),
            "least ratings of a movie": self.filters[0],
            "least ratings of a user": self.filters[1],
            "imputed share of genre means": round(env.imputed_share, 4),
        }
