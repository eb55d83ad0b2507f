"""The ratings of one MovieLens edition."""

import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError, LobWarning
from lobandits.learning.movielens.movies import read_movies
from lobandits.learning.movielens.read import read_ratings
from lobandits.learning.movielens.source import Source, open_source

if TYPE_CHECKING:
    import pyarrow as pa

SIZES = {
    100_000: "ml-100k",
    1_000_209: "ml-1m",
    10_000_054: "ml-10m",
    20_000_263: "ml-20m",
    25_000_095: "ml-25m",
    32_000_204: "ml-32m",
}
"""Editions that never change, by their number of ratings."""
UNKNOWN = "MovieLens"
"""The edition of a folder that neither files, nor counts, nor its name tell."""


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
    >>> ratings = pa.table({"userId": [1, 1, 2], "movieId": [7, 8, 7], "rating": [4.5, 2.0, 3.0]})
    >>> genres = [["Action", "Crime"], []]
    >>> movies = pa.table({"movieId": [7, 8], "title": ["Heat", "Home"], "genres": genres})
    >>> data = MovieLensRatings(ratings, movies, "mine")
    >>> data
    MovieLensRatings(mine: 3 ratings, 2 users, 2 movies, 2 genres)
    >>> data.genres
    ('Action', 'Crime')
    """

    ratings: "pa.Table" = field(repr=False)
    movies: "pa.Table" = field(repr=False)
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

    Parameters
    ----------
    path
        A folder or zip of ml-100k (u.data, u.item), ml-1m or ml-10m (ratings.dat, movies.dat),
        ml-20m, ml-25m, ml-32m, ml-latest or ml-latest-small (ratings.csv, movies.csv), or of
        Kaggle's copy of ml-20m (rating.csv, movie.csv). The data are not part of the package:
        ``lob data movielens-20m`` downloads an edition.

    Raises
    ------
    LobInputError
        If a file is missing, damaged or has lines that are no ratings; it names file and line.

    Examples
    --------
    >>> from pathlib import Path
    >>> folder = Path(getfixture("tmp_path"))
    >>> _ = (folder / "movies.csv").write_text("movieId,title,genres\n7,Heat,Action|Crime\n")
    >>> _ = (folder / "ratings.csv").write_text("userId,movieId,rating,timestamp\n1,7,4.5,0\n")
    >>> load_movielens(folder)
    MovieLensRatings(MovieLens: 1 ratings, 1 users, 1 movies, 2 genres)
    """
    with open_source(path) as source:
        try:
            ratings, movies = read_ratings(source.ratings), read_movies(source.movies)
        except OSError as error:
            raise LobInputError(f"cannot read {error.filename}: {error.strerror}") from error
    _warn_of_unknown_movies(ratings, movies, source)
    return MovieLensRatings(ratings, movies, _edition(source, ratings.num_rows))


def _edition(source: Source, n_ratings: int) -> str:
    """Return the edition: by its files where these tell, else by its size or its folder's name."""
    if source.layout.ratings == "u.data":
        return "ml-100k"
    if source.layout.ratings == "ratings.dat":
        return "ml-1m" if "users.dat" in source.beside else "ml-10m"
    if source.layout.ratings == "rating.csv":
        return "ml-20m"
    name = source.folder if source.folder.startswith("ml-") else UNKNOWN
    return SIZES.get(n_ratings, name)


def _warn_of_unknown_movies(ratings: "pa.Table", movies: "pa.Table", source: Source) -> None:
    import pyarrow.compute as pc

    rated = ratings["movieId"].unique()
    known = pc.sum(pc.is_in(rated, movies["movieId"])).as_py() or 0
    if known < len(rated):
        warnings.warn(
            f"{len(rated) - known:,} of {len(rated):,} rated movies are not in "
            f"{source.movies.name}; they count as movies without a genre",
            LobWarning,
            stacklevel=3,
        )
