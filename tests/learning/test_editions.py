"""Every edition reads, from its folder and its zip; what is wrong is named with its place."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.learning.editions import (
    MOVIES,
    PLAIN,
    RATINGS,
    REAL,
    WHOLE,
    write_100k,
    write_csv,
    write_dat,
    zipped,
)

from lobandits.errors import LobInputError, LobWarning
from lobandits.learning.movielens import MovieLensRatings, load_movielens

WRITERS: dict[str, Callable[[Path], Path]] = {
    "ml-100k": write_100k,
    "ml-1m": lambda folder: write_dat(folder, "latin-1", WHOLE, users=True),
    "ml-10m": lambda folder: write_dat(folder, "utf-8"),
    **dict.fromkeys(("ml-20m", "ml-25m", "ml-32m", "ml-latest", "ml-latest-small"), write_csv),
}
SPLIT = [sorted(genres.split("|")) if genres else [] for _, _, genres in MOVIES]


def rows(data: MovieLensRatings) -> list[tuple[int, int, float]]:
    return list(zip(*(column.to_pylist() for column in data.ratings.columns), strict=True))


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


def test_line_ends_of_windows_and_columns_in_another_order(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m", end="\r\n")
    assert rows(load_movielens(folder)) == RATINGS
    moved = [f"{stars},1,{movie},{user}" for user, movie, stars in RATINGS]
    text = "\n".join(["\ufeffrating,note,movieId,userId", *moved, ""])
    (folder / "ratings.csv").write_text(text, encoding="utf-8")
    assert rows(load_movielens(folder)) == RATINGS


@pytest.mark.skipif(not REAL.exists(), reason="needs the ratings of ml-latest-small")
def test_the_real_ratings_read_from_folder_and_zip(tmp_path: Path) -> None:
    data = load_movielens(REAL)
    counts = (data.n_ratings, data.n_users, data.n_movies, len(data.genres))
    assert counts == (100_836, 610, 9_742, 19)
    assert data.edition == "ml-latest-small"
    assert data.ratings.slice(0, 1).to_pylist() == [{"userId": 1, "movieId": 1, "rating": 4.0}]
    copy = zipped(Path(shutil.copytree(REAL, tmp_path / "ml-latest-small")))
    assert load_movielens(copy).ratings.equals(data.ratings)


def refusal(path: Path) -> str:
    with pytest.raises(LobInputError) as caught:
        load_movielens(path)
    return str(caught.value)


def test_what_is_no_edition_is_refused(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    assert "it has nothing" in refusal(tmp_path / "empty")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("hello")
    message = refusal(tmp_path / "other")
    assert "is no MovieLens edition" in message
    assert "ratings.csv and movies.csv" in message
    assert "notes.txt" in message


@pytest.mark.parametrize("lacking", ["ratings.dat", "movies.dat"])
def test_a_missing_file_is_named(lacking: str, tmp_path: Path) -> None:
    folder = write_dat(tmp_path / "ml-10m", "utf-8")
    (folder / lacking).unlink()
    assert f"but no {lacking} beside it" in refusal(folder)
    assert f"but no {lacking} beside it" in refusal(zipped(folder))


def test_a_file_instead_of_its_folder(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m")
    assert "give the folder that it is in" in refusal(folder / "ratings.csv")


def test_damaged_zips(tmp_path: Path) -> None:
    path = zipped(write_csv(tmp_path / "ml-20m", ratings=RATINGS * 200))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "is no zip, or a damaged one; download it again" in refusal(path)
    with zipfile.ZipFile(path.with_name("good.zip"), "w") as archive:
        archive.writestr("ratings.csv", "userId,movieId,rating\n1,10,4.5\n")
        archive.writestr("movies.csv", "movieId,title,genres\n10,Heat,Crime\n")
    bad = path.with_name("good.zip")
    bad.write_bytes(bad.read_bytes().replace(b"1,10,4.5", b"1,10,3.5"))
    assert "is a damaged zip (Bad CRC-32 for file 'ratings.csv')" in refusal(bad)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("userId,movieId,stars\n1,10,4\n", "ratings.csv, line 1: no column 'rating' among"),
        ("", "no column 'userId', 'movieId', 'rating' among nothing"),
        ("userId,movieId,rating\n", "ratings.csv has no ratings"),
        ("userId,movieId,rating\n1,10,4\n1,20,good\n2,10,1\n", "line 3 is '1,20,good'"),
        ("userId,movieId,rating\n1,10,4\n1,20\n", "ratings.csv, line 3 is '1,20'"),
        ("userId,movieId,rating\n1,10,4,5\n", "ratings.csv, line 2 is '1,10,4,5'"),
        ("userId,movieId,rating\n1,10,4\n\n2,,3\n", "ratings.csv, line 4: movieId is empty"),
        ("userId,movieId,rating\n1,10,nan\n", "ratings.csv, line 2: rating is nan"),
        ("userId,movieId,rating\n1,10,inf\n", "ratings.csv, line 2: rating is inf"),
        ("userId,movieId,rating\n1,10,3\nann,10,3\n", "line 3 is 'ann,10,3'"),
    ],
)
def test_bad_ratings_are_named_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m")
    (folder / "ratings.csv").write_text(text)
    assert message in refusal(folder)


def test_bad_lines_of_the_other_formats(tmp_path: Path) -> None:
    folder = write_dat(tmp_path / "ml-10m", "utf-8")
    (folder / "ratings.dat").write_text("1::10::4::0\n1:20:3:0\n")
    message = refusal(folder)
    assert "ratings.dat, line 2 is '1:20:3:0'" in message
    assert "'userId::movieId::rating::timestamp'" in message
    folder = write_100k(tmp_path / "ml-100k")
    (folder / "u.data").write_bytes(b"1\t10\t4\t0\n\x00\xff\xfe\t10\t4\t0\n")
    assert "u.data, line 2" in refusal(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("movieId,genres\n1,Drama\n", "movies.csv, line 1: no column 'title'"),
        ("movieId,title,genres\n1,Heat\n", "movies.csv, line 2 is ['1', 'Heat']"),
        ("movieId,title,genres\n10,Heat,Drama\nx,Seven,Drama\n", "movies.csv, line 3"),
        ("movieId,title,genres\n1,Heat,Drama\n1,Seven,Drama\n", "has movie 1 twice"),
    ],
)
def test_bad_movies_are_named_with_their_line(text: str, message: str, tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m")
    (folder / "movies.csv").write_text(text)
    assert message in refusal(folder)


def test_a_movie_of_100k_with_too_few_flags(tmp_path: Path) -> None:
    folder = write_100k(tmp_path / "ml-100k")
    (folder / "u.item").write_text("1|Heat|||url|0|1\n")
    assert "u.item, line 1" in refusal(folder)


def test_rated_movies_that_are_not_listed_give_a_warning(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m", movies=MOVIES[:1])
    with pytest.warns(LobWarning, match=r"2 of 3 rated movies are not in movies\.csv"):
        load_movielens(folder)
