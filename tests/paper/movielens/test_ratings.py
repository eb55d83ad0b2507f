"""Every edition reads, from its folder and its zip."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.paper.movielens.editions import (
    MOVIES,
    PLAIN,
    RATINGS,
    REAL,
    WHOLE,
    rows,
    write_100k,
    write_csv,
    write_dat,
    zipped,
)

from lobandits.errors import LobWarning
from lobandits.paper.movielens import load_movielens

WRITERS: dict[str, Callable[[Path], Path]] = {
    "ml-100k": write_100k,
    "ml-1m": lambda folder: write_dat(folder, "latin-1", WHOLE, users=True),
    "ml-10m": lambda folder: write_dat(folder, "utf-8"),
    **dict.fromkeys(("ml-20m", "ml-25m", "ml-32m", "ml-latest", "ml-latest-small"), write_csv),
}
SPLIT = [sorted(genres.split("|")) if genres else [] for _, _, genres in MOVIES]


@pytest.mark.parametrize("place", ["folder", "zip", "flat zip", "folder around it"])
@pytest.mark.parametrize("edition", WRITERS)
def test_every_edition_reads(edition: str, place: str, tmp_path: Path) -> None:
    path = WRITERS[edition](tmp_path / "around" / edition)
    if place == "folder around it":
        path = path.parent
    elif place != "folder":
        path = zipped(path, flat=place == "flat zip")
    data = load_movielens(path)
    assert data.edition == edition
    assert rows(data) == (WHOLE if edition in ("ml-100k", "ml-1m") else RATINGS)
    assert data.ratings.column_names == ["userId", "movieId", "rating"]
    assert data.movies["movieId"].to_pylist() == [10, 20, 30]
    assert data.movies["genres"].to_pylist() == SPLIT
    named = MOVIES if write_csv is WRITERS[edition] else PLAIN
    assert data.movies["title"].to_pylist() == [title for _, title, _ in named]
    assert (data.n_ratings, data.n_users, data.n_movies, len(data.genres)) == (5, 3, 3, 5)
    assert repr(data) == f"MovieLensRatings({edition}: 5 ratings, 3 users, 3 movies, 5 genres)"


def test_the_copy_of_kaggle_reads(tmp_path: Path) -> None:
    data = load_movielens(zipped(write_csv(tmp_path / "archive", kaggle=True), flat=True))
    assert data.edition == "ml-20m"
    assert rows(data) == RATINGS


def test_a_folder_without_a_telling_name_is_just_movielens(tmp_path: Path) -> None:
    assert load_movielens(write_csv(tmp_path / "mine")).edition == "MovieLens"


@pytest.mark.skipif(not REAL.exists(), reason="needs the ratings of ml-latest-small")
def test_the_real_ratings_read_from_folder_and_zip(tmp_path: Path) -> None:
    data = load_movielens(REAL)
    counts = (data.n_ratings, data.n_users, data.n_movies, len(data.genres))
    assert counts == (100_836, 610, 9_742, 19)
    assert data.edition == "ml-latest-small"
    assert data.ratings.slice(0, 1).to_pylist() == [{"userId": 1, "movieId": 1, "rating": 4.0}]
    copy = zipped(Path(shutil.copytree(REAL, tmp_path / "ml-latest-small")))
    assert load_movielens(copy).ratings.equals(data.ratings)


def test_rated_movies_that_are_not_listed_give_a_warning(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m", movies=MOVIES[:1])
    with pytest.warns(LobWarning, match=r"2 of 3 rated movies are not in movies\.csv"):
        load_movielens(folder)
