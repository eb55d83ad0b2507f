"""The ratings and movies of one MovieLens edition."""

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError, LobWarning
from lobandits.paper.movielens.editions import BY_RATINGS
from lobandits.paper.movielens.files import open_files, read_movies, read_ratings

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class MovieLensRatings:
    """Who rated which movie how, and the genres of the movies: what `load_movielens` returns.

    Parameters
    ----------
    ratings
        Arrow table with the columns userId, movieId and rating, in stars.
    movies
        Arrow table with the columns movieId, title and genres: a list, empty for none.
    edition
        Such as "ml-20m".

    Examples
    --------
    >>> import pyarrow as pa
    >>> ratings = pa.table({"userId": [1, 2], "movieId": [7, 7], "rating": [4.5, 3.0]})
    >>> movies = pa.table({"movieId": [7], "title": ["Heat"], "genres": [["Action", "Crime"]]})
    >>> MovieLensRatings(ratings, movies, "mine")
    MovieLensRatings(mine: 2 ratings, 2 users, 1 movies, 2 genres)
    """

    ratings: "pa.Table"
    movies: "pa.Table"
    edition: str

    @property
    def n_ratings(self) -> int:
        """Number of ratings."""
        return int(self.ratings.num_rows)

    @property
    def n_movies(self) -> int:
        """Number of movies, rated or not."""
        return int(self.movies.num_rows)

    @cached_property
    def n_users(self) -> int:
        """Number of users."""
        import pyarrow.compute as pc

        return int(pc.count_distinct(self.ratings["userId"]).as_py())

    @cached_property
    def genres(self) -> tuple[str, ...]:
        """The genres that some movie has, sorted."""
        import pyarrow.compute as pc

        return tuple(sorted(pc.list_flatten(self.movies["genres"]).unique().to_pylist()))

    def __repr__(self) -> str:
        return (
            f"MovieLensRatings({self.edition}: {self.n_ratings:,} ratings, {self.n_users:,} users, "
            f"{self.n_movies:,} movies, {len(self.genres)} genres)"
        )


def load_movielens(path: str | os.PathLike[str]) -> MovieLensRatings:
    r"""Read the ratings of any MovieLens edition, from its folder or its zip.

    An error names the file and line that are no ratings.

    Parameters
    ----------
    path
        A folder or zip of ml-100k (u.data, u.item), ml-1m or ml-10m (ratings.dat, movies.dat),
        ml-20m, ml-25m, ml-32m, ml-latest or ml-latest-small (ratings.csv, movies.csv), or of
        Kaggle's copy of ml-20m (rating.csv, movie.csv). ``lob data`` downloads editions.

    Examples
    --------
    >>> from pathlib import Path
    >>> folder = Path(getfixture("tmp_path"))
    >>> _ = (folder / "movies.csv").write_text("movieId,title,genres\n7,Heat,Action|Crime\n")
    >>> _ = (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,7,4.5,0\n")
    >>> load_movielens(folder)
    MovieLensRatings(MovieLens: 1 ratings, 1 users, 1 movies, 2 genres)
    """
    with open_files(path) as files:
        try:
            ratings, movies = read_ratings(files.ratings), read_movies(files.movies)
        except OSError as error:
            raise LobInputError(f"cannot read {error.filename}: {error.strerror}") from error
    _warn_of_unknown_movies(ratings, movies, files.movies.name)
    named = files.folder if files.folder.startswith("ml-") else "MovieLens"
    edition = files.edition or BY_RATINGS.get(ratings.num_rows, named)
    return MovieLensRatings(ratings, movies, edition)


def _warn_of_unknown_movies(ratings: "pa.Table", movies: "pa.Table", name: str) -> None:
    import pyarrow.compute as pc

    rated = ratings["movieId"].unique()
    known = pc.sum(pc.is_in(rated, movies["movieId"])).as_py() or 0
    if known < len(rated):
        warnings.warn(
            f"{len(rated) - known:,} of {len(rated):,} rated movies are not in {name}; they count "
            "as movies without a genre",
            LobWarning,
            stacklevel=3,
        )
