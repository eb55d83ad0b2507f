"""The files of an edition: found, unpacked, read, refused."""

import zipfile
from pathlib import Path

import pytest
from tests.paper.movielens.editions import (
    RATINGS,
    refusal,
    rows,
    write_100k,
    write_csv,
    write_dat,
    zipped,
)

from lobandits.paper.movielens import load_movielens


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


def test_line_ends_of_windows_and_columns_in_another_order(tmp_path: Path) -> None:
    folder = write_csv(tmp_path / "ml-20m", end="\r\n")
    assert rows(load_movielens(folder)) == RATINGS
    moved = [f"{stars},1,{movie},{user}" for user, movie, stars in RATINGS]
    text = "\n".join(["\ufeffrating,note,movieId,userId", *moved, ""])
    (folder / "ratings.csv").write_text(text, encoding="utf-8")
    assert rows(load_movielens(folder)) == RATINGS


def test_the_flags_of_100k_stand_for_its_genres_in_their_order(tmp_path: Path) -> None:
    folder = write_100k(tmp_path / "ml-100k", [(1, 1, 4.0)])
    flags = "0|0|0|1|1|1|0|0|0|0|0|0|0|0|0|0|0|0|0"  # of the first line of the real u.item
    (folder / "u.item").write_text(f"1|Toy Story (1995)|01-Jan-1995||http://x|{flags}\n")
    assert load_movielens(folder).genres == ("Animation", "Children's", "Comedy")


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
