"""Reading an edition's ratings, of which there may be tens of millions, with DuckDB."""

import csv
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

TYPES = {"userId": "INTEGER", "movieId": "INTEGER", "rating": "DOUBLE"}
FIX = "; mend the line, or download the data again"
SKIP = "ignore_errors=true, store_rejects=true, rejects_limit=1"


class Format(NamedTuple):
    """How a file separates its columns, and whether it names them first."""

    separator: str
    header: bool


FORMATS = {".data": Format("\t", False), ".dat": Format("::", False), ".csv": Format(",", True)}


class Scan(NamedTuple):
    """A file of ratings, and the names of its columns."""

    path: Path
    form: Format
    columns: list[str]

    def run(self, db: "duckdb.DuckDBPyConnection", *options: str) -> "duckdb.DuckDBPyRelation":
        """Return the three columns that we want."""
        quote = '"' if self.form.header else ""
        more = ", ".join(["auto_detect=false", *options])
        return db.sql(
            f"SELECT {', '.join(TYPES)} FROM read_csv($path, delim=$separator, header=$header, "
            f"columns=$types, quote=$quote, escape=$quote, {more})",
            params={
                "path": str(self.path),
                "separator": self.form.separator,
                "header": self.form.header,
                "types": {name: TYPES.get(name, "VARCHAR") for name in self.columns},
                "quote": quote,
            },
        )


def read_ratings(path: Path) -> "pa.Table":
    """Return the columns userId, movieId and rating of a file, row by row as they are."""
    import duckdb

    form = FORMATS[path.suffix]
    columns = header(path, tuple(TYPES)) if form.header else [*TYPES, "timestamp"]
    scan = Scan(path, form, columns)
    with duckdb.connect() as db:
        try:
            table = scan.run(db).to_arrow_table()
        except duckdb.Error as error:
            raise _bad_line(db, scan, error) from None
    _check_numbers(table, scan)
    return table


def _bad_line(db: "duckdb.DuckDBPyConnection", scan: Scan, error: Exception) -> LobInputError:
    """Return the error that names the first line that cannot be read."""
    import duckdb

    what = f" cannot be read: {str(error).splitlines()[0]}"
    try:
        scan.run(db, SKIP).aggregate("sum(userId + movieId + rating)").fetchall()
        bad = db.sql("SELECT line, csv_line, error_message FROM reject_errors ORDER BY line")
        for line, text, message in bad.fetchall()[:1]:
            what = f", line {line} is {text!r}: {message.splitlines()[0].rstrip('.')}"
    except duckdb.Error:
        pass  # the first error says it all
    names = scan.form.separator.join(scan.columns)
    return LobInputError(f"{scan.path.name}{what}; a line holds {names!r}{FIX}")


def _check_numbers(table: "pa.Table", scan: Scan) -> None:
    """Refuse cells that are empty or not finite, and a file without ratings."""
    import pyarrow.compute as pc

    name = scan.path.name
    if table.num_rows == 0:
        raise LobInputError(f"{name} has no ratings; download the data again")
    for column in TYPES:
        fine = pc.fill_null(pc.is_finite(table[column]), False)
        row = pc.index(fine, False).as_py()
        if row >= 0:
            value = table[column][row].as_py()
            shown = "empty" if value is None else str(value)
            line = _line_of(scan.path, row + scan.form.header)
            raise LobInputError(f"{name}, line {line}: {column} is {shown}{FIX}")


def _line_of(path: Path, row: int) -> int:
    """Return the line of a row, where the header is a row and empty lines are none."""
    with path.open("rb") as file:
        filled = (line for line, text in enumerate(file, start=1) if text.strip())
        return next(islice(filled, row, None))


def header(path: Path, needed: tuple[str, ...]) -> list[str]:
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
