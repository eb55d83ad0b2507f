"""Genre means against plain loops, and what must not change them."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.paper.movielens.editions import MOVIES, RATINGS, REAL, write_csv

from lobandits.errors import LobInputError
from lobandits.learning.table import RewardTable
from lobandits.paper.movielens import MovieLensRatings, genre_table, load_movielens

GENRES = ["Action", "Comedy", "Drama", "War"]


def make(seed: int, n_users: int = 30, n_movies: int = 40) -> MovieLensRatings:
    """Random ratings of movies with none to three genres."""
    rng = np.random.default_rng(seed)
    pairs = [(u, m) for u in range(n_users) for m in range(n_movies) if rng.random() < 0.4]
    users, movies = zip(*pairs, strict=True)
    stars = rng.integers(1, 11, len(pairs)) / 2
    genres = [
        sorted(rng.choice(GENRES, rng.integers(4), replace=False).tolist()) for _ in range(n_movies)
    ]
    return MovieLensRatings(
        pa.table({"userId": users, "movieId": movies, "rating": stars}),
        pa.table({"movieId": range(n_movies), "title": ["?"] * n_movies, "genres": genres}),
        "made",
    )


def naive(
    data: MovieLensRatings, least_movie: int, least_user: int, seed: int
) -> dict[tuple[int, str], list[float]]:
    """Return the ratings in each cell, movie by movie, in plain loops."""
    movies = sorted(data.movies.to_pylist(), key=lambda movie: int(movie["movieId"]))
    draws = np.random.default_rng(seed).random(len(movies))
    genre = {
        movie["movieId"]: movie["genres"][int(draw * len(movie["genres"]))]
        if movie["genres"]
        else "None"
        for movie, draw in zip(movies, draws, strict=True)
    }
    rows = data.ratings.to_pylist()
    of_movie = [row["movieId"] for row in rows]
    rows = [row for row in rows if of_movie.count(row["movieId"]) >= least_movie]
    of_user = [row["userId"] for row in rows]
    cells = defaultdict(list)
    for row in rows:
        if of_user.count(row["userId"]) >= least_user:
            cells[row["userId"], genre[row["movieId"]]].append(row["rating"])
    return cells


def same(table: RewardTable, other: RewardTable) -> bool:
    fields = ("users", "counts", "sums", "squares")
    return table.arms == other.arms and all(
        np.array_equal(getattr(table, name), getattr(other, name)) for name in fields
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("least_movie", "least_user"), [(1, 1), (10, 13), (13, 7)])
def test_cells_are_those_of_plain_loops(seed: int, least_movie: int, least_user: int) -> None:
    data = make(seed)
    table = genre_table(data, least_movie, least_user, seed)
    cells = naive(data, least_movie, least_user, seed)
    assert table.users.tolist() == sorted({user for user, _ in cells})
    assert table.arms == tuple(sorted({genre for _, genre in cells}))
    for row, user in enumerate(table.users.tolist()):
        for column, genre in enumerate(table.arms):
            stars = cells.get((user, genre), [])
            assert table.counts[row, column] == len(stars)
            assert table.sums[row, column] == sum(stars)
            assert table.squares[row, column] == sum(star**2 for star in stars)


def test_the_order_of_rows_does_not_matter() -> None:
    data = make(0)
    rng = np.random.default_rng(1)
    mixed = MovieLensRatings(
        data.ratings.take(rng.permutation(data.n_ratings)),
        data.movies.take(rng.permutation(data.n_movies)),
        "mixed",
    )
    assert same(genre_table(data, 5, 5), genre_table(mixed, 5, 5))


def test_the_seed_decides_the_genre_and_the_filters_do_not() -> None:
    data = make(0)
    tables = [genre_table(data, 1, 1, seed) for seed in (0, 0, 1)]
    assert same(tables[0], tables[1])
    assert not same(tables[0], tables[2])
    fewer = genre_table(data, 1, 17)
    kept = np.isin(tables[0].users, fewer.users)
    assert 0 < kept.sum() < len(kept)
    assert np.array_equal(tables[0].counts[kept], fewer.counts)


def test_each_genre_of_a_movie_is_as_likely() -> None:
    n = 6000
    data = MovieLensRatings(
        pa.table({"userId": [1] * n, "movieId": range(n), "rating": [3.0] * n}),
        pa.table({"movieId": range(n), "title": ["?"] * n, "genres": [["A", "B", "C"]] * n}),
        "made",
    )
    counts = genre_table(data, 1, 1).counts[0]
    assert np.abs(counts - n / 3).max() < 5 * np.sqrt(n * 2 / 9)


def test_movies_without_genre_or_unlisted_have_the_genre_none(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m", movies=[MOVIES[0], MOVIES[2]])
    with pytest.warns(UserWarning, match="1 of 3 rated movies"):
        data = load_movielens(folder)
    table = genre_table(data, 1, 1)
    assert table.counts[:, table.arms.index("None")].tolist() == [1, 0, 1]
    assert table.n_rewards == len(RATINGS)


def test_filters_that_leave_nobody_are_refused() -> None:
    with pytest.raises(LobInputError, match="no user of made has 500 ratings of movies with"):
        genre_table(make(0), 10, 500)
    with pytest.raises(LobInputError, match="lower min_user_ratings or min_movie_ratings"):
        genre_table(make(0), 10_000, 1)
    with pytest.raises(LobInputError, match="min_movie_ratings"):
        genre_table(make(0), 0, 1)


@pytest.mark.skipif(not REAL.exists(), reason="needs the ratings of ml-latest-small")
def test_the_real_ratings_leave_201_users_and_19_genres() -> None:
    table = genre_table(load_movielens(REAL), 20, 100)
    assert (table.n_users, table.n_arms) == (201, 19)
    assert "None" not in table.arms
