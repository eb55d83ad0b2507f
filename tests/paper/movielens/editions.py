"""Tiny MovieLens editions, in the format of each."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from lobandits.errors import LobInputError
from lobandits.paper.movielens import MovieLensRatings, load_movielens
from lobandits.paper.movielens.editions import GENRES_100K

ROOT = Path(__file__).parents[3]
REAL = ROOT.parent / "shared" / "data" / "ml-latest-small"

Rating = tuple[int, int, float]
Movie = tuple[int, str, str]

RATINGS: list[Rating] = [(1, 10, 5.0), (1, 20, 3.5), (2, 10, 0.5), (3, 30, 4.0), (3, 10, 2.0)]
WHOLE: list[Rating] = [(user, movie, float(round(stars + 0.1))) for user, movie, stars in RATINGS]
MOVIES: list[Movie] = [
    (10, "Heat (1995)", "Action|Crime|Thriller"),
    (20, 'City of Lost Children, The "Cité" (1995)', "Adventure|Drama"),
    (30, "Nowhere :: Man | 1", ""),
]
PLAIN: list[Movie] = [(movie, "Cité (1995)", genres) for movie, _, genres in MOVIES]


def write_100k(folder: Path, ratings: Sequence[Rating] = WHOLE) -> Path:
    """u.data with tabs, u.item in Latin-1 with a flag for each genre."""
    folder.mkdir(parents=True)
    lines = [f"{user}\t{movie}\t{stars:.0f}\t881250949\n" for user, movie, stars in ratings]
    (folder / "u.data").write_text("".join(lines), encoding="ascii")
    items = []
    for movie, title, genres in PLAIN:
        named = genres.split("|") if genres else ["unknown"]
        flags = "|".join("1" if flag in named else "0" for flag in GENRES_100K)
        items.append(f"{movie}|{title}|01-Jan-1995||http://example.org/?{movie}|{flags}\n")
    (folder / "u.item").write_text("".join(items), encoding="latin-1")
    (folder / "u1.base").write_text("not ours\n")
    return folder


def write_dat(
    folder: Path, encoding: str, ratings: Sequence[Rating] = RATINGS, users: bool = False
) -> Path:
    """ratings.dat and movies.dat, separated by ::; ml-1m has users.dat beside them."""
    folder.mkdir(parents=True)
    lines = [f"{user}::{movie}::{stars:g}::838985046\n" for user, movie, stars in ratings]
    (folder / "ratings.dat").write_text("".join(lines), encoding="ascii")
    movies = [f"{number}::{title}::{genres}\n" for number, title, genres in PLAIN]
    (folder / "movies.dat").write_text("".join(movies), encoding=encoding)
    if users:
        (folder / "users.dat").write_text("1::F::1::10::48067\n")
    return folder


def write_csv(
    folder: Path,
    ratings: Sequence[Rating] = RATINGS,
    movies: Sequence[Movie] = MOVIES,
    kaggle: bool = False,
    end: str = "\n",
) -> Path:
    """ratings.csv and movies.csv; Kaggle's copy has other names and quotes its times."""
    folder.mkdir(parents=True)
    lines = ["userId,movieId,rating,timestamp"]
    header = ["movieId,title,genres"]
    time = "964982703"
    if kaggle:
        lines, time = ['"userId","movieId","rating","timestamp"'], '"2005-04-02 23:53:47"'
    lines += [f"{user},{movie},{stars},{time}" for user, movie, stars in ratings]
    for number, title, genres in movies:
        quoted = '"' + title.replace('"', '""') + '"'
        header.append(f"{number},{quoted},{genres or '(no genres listed)'}")
    names = ("rating.csv", "movie.csv") if kaggle else ("ratings.csv", "movies.csv")
    for name, rows in zip(names, (lines, header), strict=True):
        (folder / name).write_bytes((end.join(rows) + end).encode())
    return folder


def zipped(folder: Path, flat: bool = False) -> Path:
    """Return a zip of the folder, beside it."""
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.iterdir()):
            archive.write(file, file.name if flat else f"{folder.name}/{file.name}")
    return path


def rows(data: MovieLensRatings) -> list[tuple[int, int, float]]:
    """Return the ratings row by row."""
    return list(zip(*(column.to_pylist() for column in data.ratings.columns), strict=True))


def refusal(path: Path) -> str:
    """Return why the files are refused."""
    with pytest.raises(LobInputError) as caught:
        load_movielens(path)
    return str(caught.value)
