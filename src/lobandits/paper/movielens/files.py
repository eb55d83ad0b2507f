"""The files of an edition, in a folder or a zip, and what they say of ratings and movies."""

import csv
import io
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

from lobandits.errors import LobError, LobInputError
from lobandits.paper.movielens.editions import GENRES_100K, NO_GENRE

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

LAYOUTS = {  # the file of ratings, and the file of movies beside it
    "u.data": "u.item",
    "ratings.dat": "movies.dat",
    "ratings.csv": "movies.csv",
    "rating.csv": "movie.csv",
}
AGAIN = "; download it again"
SEPARATORS = {".data": "\t", ".dat": "::", ".csv": ","}
RATING = {"userId": "INTEGER", "movieId": "INTEGER", "rating": "DOUBLE"}
MOVIE = ("movieId", "title", "genres")
FIX = "; mend the line, or download the data again"
SKIP = ", ignore_errors=true, store_rejects=true, rejects_limit=1"


class EditionFiles(NamedTuple):
    """The two files on the disk, the edition if the files tell it, and their folder's name."""

    ratings: Path
    movies: Path
    edition: str | None
    folder: str


@contextmanager
def open_files(path: str | os.PathLike[str]) -> Iterator[EditionFiles]:
    """Yield the files of the edition in a folder or zip; a zip's two files are unpacked."""
    place = Path(path)
    if place.is_dir():
        files = (file for pattern in ("*", "*/*") for file in place.glob(pattern))
        names = {file.relative_to(place).as_posix() for file in files if file.is_file()}
        yield _files(place, _find(names, place), names, place.resolve().name)
    elif place.is_file():
        with TemporaryDirectory(prefix="lob-movielens-") as folder:
            yield _unpacked(place, Path(folder))
    else:
        raise LobInputError(
            f"{place} does not exist; give the folder or zip of a MovieLens edition, "
            "such as ml-20m.zip (`lob data movielens-20m` downloads it)"
        )


def _unpacked(path: Path, folder: Path) -> EditionFiles:
    if not zipfile.is_zipfile(path):
        ours = path.name in {*LAYOUTS, *LAYOUTS.values()}
        hint = "; give the folder that it is in" if ours else AGAIN
        raise LobInputError(f"{path} is no zip, or a damaged one{hint}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name for name in archive.namelist() if not name.endswith("/")}
            found = _find(names, path)
            archive.extractall(folder, found)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise LobInputError(f"{path} is a damaged zip ({error}){AGAIN}") from None
    except OSError as error:
        raise LobError(f"cannot unpack {path}: {error.strerror or error}") from error
    return _files(folder, found, names, path.stem)


def _find(names: set[str], place: Path) -> tuple[str, str]:
    """Return the names of the two files; of several editions, those in the outermost folder."""
    folders = {name[: name.rfind("/") + 1] for name in names}
    for folder in sorted(folders, key=lambda f: (f.count("/"), f.removesuffix("/"))):
        for pair in LAYOUTS.items():
            ratings, movies = (folder + name for name in pair)
            if {ratings, movies} <= names:
                return ratings, movies
            if {ratings, movies} & names:
                there, lacking = pair if ratings in names else pair[::-1]
                raise LobInputError(f"{place} has {there}, but no {lacking} beside it{AGAIN}")
    wanted = ", ".join(" and ".join(pair) for pair in LAYOUTS.items())
    found = ", ".join(sorted(names)[:5]) or "nothing"
    raise LobInputError(f"{place} is no MovieLens edition: it needs {wanted}; it has {found}")


def _files(root: Path, found: tuple[str, str], names: set[str], name: str) -> EditionFiles:
    ratings, movies = (root / file for file in found)
    edition = {"u.data": "ml-100k", "rating.csv": "ml-20m"}.get(ratings.name)
    if ratings.name == "ratings.dat":
        users = found[0].removesuffix(ratings.name) + "users.dat"
        edition = "ml-1m" if users in names else "ml-10m"
    return EditionFiles(ratings, movies, edition, PurePosixPath(found[0]).parent.name or name)


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
