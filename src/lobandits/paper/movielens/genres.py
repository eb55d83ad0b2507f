"""Ratings added up by user and genre, as in the paper: filters, and one genre for each movie."""

from typing import TYPE_CHECKING

import numpy as np

from lobandits.basics.checks import whole
from lobandits.errors import LobInputError
from lobandits.learning.table import RewardTable, pivot
from lobandits.paper.movielens.ratings import MovieLensRatings

if TYPE_CHECKING:
    import pyarrow as pa

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
