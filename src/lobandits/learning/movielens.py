"""The ratings of one MovieLens edition, and their sums by user and genre."""

import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lobandits._checks import whole
from lobandits.errors import LobInputError, LobWarning
from lobandits.learning.editions import open_source, read_movies, read_ratings
from lobandits.learning.pivot import pivot
from lobandits.learning.table import RewardTable

if TYPE_CHECKING:
    import pyarrow as pa

SIZES = {  # editions that never change, by their number of ratings
    100_000: "ml-100k",
    1_000_209: "ml-1m",
    10_000_054: "ml-10m",
    20_000_263: "ml-20m",
    25_000_095: "ml-25m",
    32_000_204: "ml-32m",
}
CELLS = """
CREATE TEMP VIEW kept AS
SELECT userId, movieId, rating FROM ratings
SEMI JOIN (SELECT movieId FROM ratings GROUP BY movieId HAVING count(*) >= {movie_ratings})
USING (movieId);

SELECT userId AS user, coalesce(genre, 'None') AS arm,
       count(*) AS counts, sum(rating) AS sums, sum(rating * rating) AS squares
FROM kept
SEMI JOIN (SELECT userId FROM kept GROUP BY userId HAVING count(*) >= {user_ratings})
USING (userId)
LEFT JOIN genres USING (movieId)
GROUP BY ALL
"""


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
    with open_source(path) as source:
        try:
            ratings, movies = read_ratings(source.ratings), read_movies(source.movies)
        except OSError as error:
            raise LobInputError(f"cannot read {error.filename}: {error.strerror}") from error
    _warn_of_unknown_movies(ratings, movies, source.movies.name)
    named = source.folder if source.folder.startswith("ml-") else "MovieLens"
    edition = source.edition or SIZES.get(ratings.num_rows, named)
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


def genre_table(
    data: MovieLensRatings,
    min_movie_ratings: int = 200,
    min_user_ratings: int = 200,
    seed: int = 0,
) -> RewardTable:
    """Return the count, sum and squares of each user's ratings of each genre, as in the paper.

    Movies with fewer ratings are left out, then users with fewer ratings of what remains. A movie
    has one of its genres, at random: ``seed`` and the edition's movies decide which, not the
    filters nor the order of rows. Without any it has the genre "None".
    """
    import duckdb

    movie_ratings = whole("min_movie_ratings", min_movie_ratings)
    user_ratings = whole("min_user_ratings", min_user_ratings)
    with duckdb.connect() as db:
        db.register("ratings", data.ratings)
        db.register("genres", _one_genre_each(data.movies, whole("seed", seed, least=0)))
        query = CELLS.format(movie_ratings=movie_ratings, user_ratings=user_ratings)
        cells = db.sql(query).to_arrow_table()
    if not len(cells):
        raise LobInputError(
            f"no user of {data.edition} has {user_ratings:,} ratings of movies with at least "
            f"{movie_ratings:,} ratings; lower min_user_ratings or min_movie_ratings"
        )
    return pivot(cells, data.edition, "genre")


def _one_genre_each(movies: "pa.Table", seed: int) -> "pa.Table":
    """Return a table of movieId and genre, one of the movie's; null where it has none."""
    import pyarrow as pa

    ordered = movies.sort_by("movieId")
    draws = np.random.default_rng(seed).random(ordered.num_rows)
    drawn = [
        genres[int(draw * len(genres))] if genres else None
        for genres, draw in zip(ordered["genres"].to_pylist(), draws.tolist(), strict=True)
    ]
    return pa.table({"movieId": ordered["movieId"], "genre": pa.array(drawn, pa.string())})
