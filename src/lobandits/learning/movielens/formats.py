"""What the files of an edition say of ratings and movies, in each of its formats."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError
from lobandits.learning.movielens.editions import GENRES_100K, NO_GENRE

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

SEPARATORS = {".data": "\t", ".dat": "::", ".csv": ","}
RATING = {"userId": "INTEGER", "movieId": "INTEGER", "rating": "DOUBLE"}
MOVIE = ("movieId", "title", "genres")
FIX = "; mend the line, or download the data again"
SKIP = ", ignore_errors=true, store_rejects=true, rejects_limit=1"


def read_ratings(path: Path) -> "pa.Table":
    """Return the columns userId, movieId and rating of a file, row by row as they are."""
    import duckdb

    named = path.suffix == ".csv"
    columns = _header(path, tuple(RATING)) if named else [*RATING, "timestamp"]
    with duckdb.connect() as db:
        try:
            table = _scan(db, path, columns).to_arrow_table()
        except duckdb.Error as error:
            raise _bad_line(db, path, columns, error) from None
    _check_numbers(table, path)
    return table


def _scan(
    db: "duckdb.DuckDBPyConnection", path: Path, columns: list[str], options: str = ""
) -> "duckdb.DuckDBPyRelation":
    named = path.suffix == ".csv"
    return db.sql(
        f"SELECT {', '.join(RATING)} FROM read_csv($path, delim=$separator, header=$header, "
        f"columns=$types, quote=$quote, escape=$quote, auto_detect=false{options})",
        params={
            "path": str(path),
            "separator": SEPARATORS[path.suffix],
            "header": named,
            "types": {name: RATING.get(name, "VARCHAR") for name in columns},
            "quote": '"' if named else "",
        },
    )


def _bad_line(
    db: "duckdb.DuckDBPyConnection", path: Path, columns: list[str], error: Exception
) -> LobInputError:
    """Return the error that names the first line that cannot be read."""
    import duckdb

    what = f" cannot be read: {str(error).splitlines()[0]}"
    with suppress(duckdb.Error):  # the first error says it all
        _scan(db, path, columns, SKIP).aggregate("sum(userId + movieId + rating)").fetchall()
        bad = db.sql("SELECT line, csv_line, error_message FROM reject_errors ORDER BY line")
        for line, text, message in bad.fetchall()[:1]:
            what = f", line {line} is {text!r}: {message.splitlines()[0].rstrip('.')}"
    names = SEPARATORS[path.suffix].join(columns)
    return LobInputError(f"{path.name}{what}; a line holds {names!r}{FIX}")


def _check_numbers(table: "pa.Table", path: Path) -> None:
    import pyarrow.compute as pc

    if table.num_rows == 0:
        raise LobInputError(f"{path.name} has no ratings; download the data again")
    for column in RATING:
        fine = pc.fill_null(pc.is_finite(table[column]), False)
        row = pc.index(fine, False).as_py()
        if row >= 0:
            value = table[column][row].as_py()
            shown = "empty" if value is None else value
            with path.open("rb") as file:  # a header is a row, empty lines are none
                filled = (line for line, text in enumerate(file, start=1) if text.strip())
                line = next(islice(filled, row + (path.suffix == ".csv"), None))
            raise LobInputError(f"{path.name}, line {line}: {column} is {shown}{FIX}")


def _header(path: Path, needed: tuple[str, ...]) -> list[str]:
    """Return the names of a file's columns, or say which one is missing."""
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        columns = next(csv.reader(file), [])
    lacking = [name for name in needed if name not in columns]
    if lacking:
        raise LobInputError(
            f"{path.name}, line 1: no column {', '.join(map(repr, lacking))} among "
            f"{', '.join(columns)[:200] or 'nothing'}; download the data again"
        )
    return columns


def read_movies(path: Path) -> "pa.Table":
    """Return the columns movieId, title and genres (a list, empty where there is none)."""
    import pyarrow as pa

    read = _records if path.suffix == ".csv" else _lines
    movies = [_movie(path.name, line, row) for line, row in read(path)]
    for movie, times in Counter(movie["movieId"] for movie in movies).most_common(1):
        if times > 1:
            raise LobInputError(f"{path.name} has movie {movie} twice; download the data again")
    types = (pa.int32(), pa.string(), pa.list_(pa.string()))
    return pa.Table.from_pylist(movies, pa.schema(list(zip(MOVIE, types, strict=True))))


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, its columns in our order, each with the line it ends on."""
    columns = _header(path, MOVIE)
    places = [columns.index(name) for name in MOVIE]
    reader = csv.reader(io.StringIO(_text(path), newline=""))
    for row in islice(reader, 1, None):
        if row:
            whole = len(row) == len(columns)
            yield reader.line_num, [row[place] for place in places] if whole else row


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each line of movies.dat or u.item that is not empty."""
    for line, text in enumerate(_text(path).split("\n"), start=1):
        if text.strip():
            row = text.rstrip("\r")
            yield line, row.split("::") if path.suffix == ".dat" else _item(path.name, line, row)


def _item(name: str, line: int, text: str) -> list[str]:
    """Return number, title and genres of a line of u.item, which has a flag for each genre."""
    fields, n = text.split("|"), len(GENRES_100K)
    flags = fields[5:]
    if len(flags) != n or not set(flags) <= {"0", "1"}:
        raise LobInputError(
            f"{name}, line {line} is {text!r}; it needs {5 + n} columns separated by |, the last "
            f"{n} of them 0 or 1{FIX}"
        )
    genres = (genre for genre, flag in zip(GENRES_100K, flags, strict=True) if flag == "1")
    return [*fields[:2], "|".join(genres)]


def _movie(name: str, line: int, row: list[str]) -> dict[str, object]:
    try:
        number, title, genres = row
        listed = sorted(set(genres.split("|")) - NO_GENRE)
        return {"movieId": int(number), "title": title, "genres": listed}
    except ValueError:
        raise LobInputError(
            f"{name}, line {line} is {row!r}; a movie has {', '.join(MOVIE)}{FIX}"
        ) from None


def _text(path: Path) -> str:
    """Return a file's text: UTF-8, or Latin-1 as in the two oldest editions."""
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")
