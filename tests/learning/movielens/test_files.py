"""The two files of an edition: found in folders and zips, or missed by name."""

import zipfile
from pathlib import Path

import pytest
from tests.learning.editions import RATINGS, refusal, write_csv, write_dat, zipped


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
