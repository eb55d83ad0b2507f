"""Reading an edition's movies: number, title, genres."""

import csv
import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError
from lobandits.learning.movielens.read import FIX, header

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("movieId", "title", "genres")
FLAGS = (
    *("unknown", "Action", "Adventure", "Animation", "Children's", "Comedy", "Crime"),
    *("Documentary", "Drama", "Fantasy", "Film-Noir", "Horror", "Musical", "Mystery"),
    *("Romance", "Sci-Fi", "Thriller", "War", "Western"),
)
"""The genres of ml-100k, in the order of the columns of u.item that say yes or no."""
NO_GENRE = {"", "unknown", "(no genres listed)"}

Rows = list[tuple[int, list[str]]]
"""Each row with the line that it ends on."""


def read_movies(path: Path) -> "pa.Table":
    """Return the columns movieId, title and genres (a list, empty where there is none)."""
    import pyarrow as pa

    read = {"u.item": _items, "movies.dat": _fields}.get(path.name, _records)
    movies = [_movie(path.name, line, row) for line, row in read(path)]
    for movie, times in Counter(number for number, _, _ in movies).most_common(1):
        if times > 1:
            raise LobInputError(f"{path.name} has movie {movie} twice; download the data again")
    types = (pa.int32(), pa.string(), pa.list_(pa.string()))
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    return pa.Table.from_pylist([dict(zip(COLUMNS, m, strict=True)) for m in movies], schema)


def _movie(name: str, line: int, row: list[str]) -> tuple[int, str, list[str]]:
    """Return a movie's number, title and genres."""
    try:
        number, title, genres = row
        return int(number), title, sorted(set(genres.split("|")) - NO_GENRE)
    except ValueError:
        raise LobInputError(
            f"{name}, line {line} is {row!r}; a movie has {', '.join(COLUMNS)}{FIX}"
        ) from None


def _items(path: Path) -> Rows:
    """Return the rows of u.item: number, title, three things more, and a flag for each genre."""
    rows = []
    for line, text in _lines(path):
        number, *rest = text.split("|")
        flags = rest[-len(FLAGS) :]
        if len(rest) != 4 + len(FLAGS) or not set(flags) <= {"0", "1"}:
            raise LobInputError(
                f"{path.name}, line {line} is {text!r}; it needs {5 + len(FLAGS)} columns "
                f"separated by |, the last {len(FLAGS)} of them 0 or 1{FIX}"
            )
        named = (genre for genre, flag in zip(FLAGS, flags, strict=True) if flag == "1")
        rows.append((line, [number, rest[0], "|".join(named)]))
    return rows


def _fields(path: Path) -> Rows:
    """Return the rows of movies.dat."""
    return [(line, text.split("::")) for line, text in _lines(path)]


def _records(path: Path) -> Rows:
    """Return the rows of a CSV file, its columns in our order."""
    columns = header(path, COLUMNS)
    places = [columns.index(name) for name in COLUMNS]
    reader = csv.reader(io.StringIO(_text(path), newline=""))
    next(reader)
    rows = []
    for row in reader:
        whole = len(row) == len(columns)
        if row:
            rows.append((reader.line_num, [row[place] for place in places] if whole else row))
    return rows


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not empty, with their numbers."""
    lines = enumerate(_text(path).split("\n"), start=1)
    return [(line, text.rstrip("\r")) for line, text in lines if text.strip()]


def _text(path: Path) -> str:
    """Return a file's text: UTF-8, or Latin-1 as in the two oldest editions."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
