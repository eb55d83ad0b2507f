"""Each user's ratings of each genre, where a movie with several genres counts for one of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import whole
from lobandits.errors import LobInputError
from lobandits.learning.movielens.ratings import MovieLensRatings
from lobandits.learning.table import RewardTable

if TYPE_CHECKING:
    import pyarrow as pa

NONE = "None"
"""The genre of movies without one."""

KEPT = """
CREATE TEMP VIEW kept AS
SELECT userId, movieId, rating FROM ratings
SEMI JOIN (SELECT movieId FROM ratings GROUP BY movieId HAVING count(*) >= {movie_ratings})
USING (movieId)
"""
CELLS = """
SELECT userId, coalesce(arm, {none}) AS arm,
       count(*) AS counts, sum(rating) AS sums, sum(rating * rating) AS squares
FROM kept
SEMI JOIN (SELECT userId FROM kept GROUP BY userId HAVING count(*) >= {user_ratings})
USING (userId)
LEFT JOIN genres USING (movieId)
GROUP BY ALL ORDER BY userId, arm
"""


def genre_table(
    data: MovieLensRatings,
    min_movie_ratings: int = 200,
    min_user_ratings: int = 200,
    seed: int = 0,
) -> RewardTable:
    """Return the count, sum and squares of each user's ratings of each genre, as in the paper.

    Movies with fewer than ``min_movie_ratings`` are left out, then users with fewer than
    ``min_user_ratings`` of what remains. A movie with several genres has one of them, at random:
    ``seed`` and the edition's movies decide which, not the filters nor the order of rows. Movies
    without a genre have the genre "None".
    """
    import duckdb

    movie_ratings = whole("min_movie_ratings", min_movie_ratings)
    user_ratings = whole("min_user_ratings", min_user_ratings)
    names = sorted({*data.genres, NONE})
    with duckdb.connect() as db:
        db.register("ratings", data.ratings)
        db.register("genres", _one_genre_each(data.movies, names, whole("seed", seed, least=0)))
        db.execute(KEPT.format(movie_ratings=movie_ratings))
        cells = db.sql(CELLS.format(none=names.index(NONE), user_ratings=user_ratings)).fetchnumpy()
    if not len(cells["userId"]):
        raise LobInputError(
            f"no user of {data.edition} has {user_ratings:,} ratings of movies with at least "
            f"{movie_ratings:,} ratings; lower min_user_ratings or min_movie_ratings"
        )
    return _table(cells, names)


def _one_genre_each(movies: "pa.Table", names: list[str], seed: int) -> "pa.Table":
    """Return a table of movieId and arm, the place in ``names`` of one genre of the movie."""
    import pyarrow as pa

    place = {name: arm for arm, name in enumerate(names)}
    ordered = movies.sort_by("movieId")
    draws = np.random.default_rng(seed).random(ordered.num_rows)
    arms = [
        place[genres[int(draw * len(genres))]] if genres else place[NONE]
        for genres, draw in zip(ordered["genres"].to_pylist(), draws.tolist(), strict=True)
    ]
    return pa.table({"movieId": ordered["movieId"], "arm": pa.array(arms, pa.int32())})


def _table(cells: dict[str, Any], names: list[str]) -> RewardTable:
    """Return the cells as a table with all users and the genres that are left."""
    users, rows = np.unique(cells["userId"], return_inverse=True)
    arms, columns = np.unique(cells["arm"], return_inverse=True)
    fields: dict[str, Any] = {}
    for name in ("counts", "sums", "squares"):
        fields[name] = np.zeros((len(users), len(arms)), dtype=cells[name].dtype)
        fields[name][rows, columns] = cells[name]
    return RewardTable(users, tuple(names[arm] for arm in arms), **fields)
