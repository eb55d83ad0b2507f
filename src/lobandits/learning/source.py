"""Logs as an ibis table: files and frames on an embedded DuckDB, others where they are."""

import csv
import gzip
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from glob import escape, glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lobandits.basics.checks import closest
from lobandits.basics.words import counted
from lobandits.errors import LobInputError

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}


class Source(NamedTuple):
    """An ibis table, its engine, and how errors speak of it.

    ``embedded`` engines were opened here: their failures are the logs' fault, and rows have
    numbers. ``guessed`` says that the types of columns come from a CSV file's first rows.
    """

    table: Any
    name: str
    engine: Any
    embedded: bool = True
    files: Sequence[str] = ()
    guessed: bool = False

    def fetch(self, expression: Any) -> Any:
        """Return the rows of an ibis expression as an Arrow table."""
        with readable(self.name) if self.embedded else nullcontext():
            return self.engine.to_pyarrow(expression)


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Turn an error of the embedded DuckDB into one that says that ``name`` cannot be read."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = str(error).split("\nLINE ")[0]  # what follows is the query
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        fix = "; save it as UTF-8" if "not utf-8" in said else ""
        raise LobInputError(
            f"cannot read {name}, which is damaged or no table: {'; '.join(lines[:3])}{fix}"
        ) from error


def check_columns(there: Any, columns: Sequence[str], name: str) -> None:
    """Refuse logs that lack one of the columns, or have it twice."""
    names = [str(column) for column in there]
    for column in columns:
        if names.count(column) > 1:
            raise LobInputError(f"{name} has more than one column {column!r}; rename one")
        if column not in names:
            raise LobInputError(
                f"{name} has no column {column!r}; {closest(column, names)}"
                f"The columns are {', '.join(names)}"
            )


def rows(number: int) -> str:
    """Return "1 row", "2,000 rows"."""
    return f"{number:,} row" + ("s" if number != 1 else "")


def files_of(paths: Sequence[str]) -> list[str]:
    """Return all files that paths, folders and globs stand for, each once."""
    return list(dict.fromkeys(file for path in paths for file in _matching(path)))


def open_files(paths: Sequence[str]) -> Source:
    """Return the rows of all files that the paths stand for."""
    found = files_of(paths)
    for file in found:
        if not Path(file).stat().st_size:
            raise LobInputError(f"{file} is empty")
        if _kind(file) is None:
            raise LobInputError(f"{file} must end in {', '.join(KINDS)} (or with .gz after it)")
        if _kind(file) != _kind(found[0]):
            raise LobInputError(f"{found[0]} and {file} are of two kinds; give CSV or Parquet")
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return _read(found, paths[0] + more)


def _matching(path: str) -> list[str]:
    """Return the files that a path, a folder or a glob stands for."""
    if Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        visible = _within(Path(path))
        if not visible:
            raise LobInputError(f"the folder {path} holds no CSV or Parquet file")
        return visible
    matches = []
    for match in sorted(glob(path, recursive=True)):  # noqa: PTH207 (Path's takes no absolute one)
        if Path(match).is_file():
            matches.append(match)
        elif _kind(match):  # a folder in the place of a file, as Spark writes it
            matches.extend(_within(Path(match)))
    if not matches:
        folder = Path(path).parent
        near = [str(file) for file in folder.iterdir()] if folder.is_dir() else []
        what = "no file matches" if has_magic(path) else "there is no file"
        raise LobInputError(f"{what} {path}; {closest(path, near)}Working folder: {Path.cwd()}")
    return matches


def _within(folder: Path) -> list[str]:
    """Return the CSV and Parquet files in a folder, hidden and private ones aside."""
    return sorted(
        str(file)
        for file in folder.rglob("*")
        if file.is_file()
        and _kind(file.name)
        and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    )


def _kind(file: str) -> str | None:
    return KINDS.get(Path(file.lower().removesuffix(".gz")).suffix)


def _read(files: Sequence[str], name: str, **options: Any) -> Source:
    """Return the rows of all files; ``options`` go to DuckDB's reader of CSV files."""
    import ibis

    engine = ibis.duckdb.connect()
    text = _kind(files[0]) == "csv"
    literal = [escape(file) for file in files]  # DuckDB would expand a glob once more
    # Else the first file decides the types, and DuckDB rounds a later one's fractions to them.
    union = {"union_by_name": True} if len(files) > 1 else {}
    with readable(name), warnings.catch_warnings():
        # ibis calls DuckDB by a name that DuckDB will drop
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        if text:
            table = engine.read_csv(literal, header=True, **union, **options)
        else:
            table = engine.read_parquet(literal, **union)
    if text and len(table.columns) == 1:
        _check_fields(files)
    guessed = text and "all_varchar" not in options
    return Source(table, name, engine, files=files, guessed=guessed)


def _check_fields(files: Sequence[str]) -> None:
    """Refuse rows with more or fewer fields than the header, if it has several."""
    for file in files:
        read = gzip.open if file.lower().endswith(".gz") else open
        with read(file, "rt", encoding="utf-8", errors="replace", newline="") as lines:
            reader = csv.reader(lines)
            header = next(reader, [])
            for row in reader if len(header) > 1 else ():
                if row and len(row) != len(header):
                    raise LobInputError(
                        f"{file}, line {reader.line_num} has {counted(len(row), 'field')}, its "
                        f"header has {len(header)}: {','.join(row)[:200]}. Correct such lines"
                    )


def as_written(source: Source, keys: Sequence[str], reward: str) -> Source:
    """Read keys (users, arms) that look like times, yes or no, or fractions as the text they are.

    Arm 08:00 is not to become 08:00:00. Rewards that look whole may have fractions further down.
    """
    kinds = source.table.schema()
    types = {
        name: "VARCHAR"
        for name in keys
        if not (kinds[name].is_integer() or kinds[name].is_string())
    }
    if kinds[reward].is_integer():
        types[reward] = "DOUBLE"
    return _read(source.files, source.name, types=types) if types else source


def as_text(source: Source) -> Source:
    """Read all columns of CSV files as text."""
    return _read(source.files, source.name, all_varchar=True)


def open_frame(logs: Any, columns: Sequence[str]) -> Source:
    """Return the columns of a table in memory."""
    import ibis

    table = ibis.memtable(_arrow(logs, columns))
    return Source(table, "the table", ibis.duckdb.connect())


def _arrow(logs: Any, columns: Sequence[str]) -> "pa.Table":
    """Return the columns of a pandas, polars or Arrow table, as Arrow."""
    import pyarrow as pa

    if hasattr(logs, "collect_schema"):  # polars, perhaps lazy
        check_columns(logs.collect_schema().names(), columns, "the table")
        logs = logs.lazy().select(columns).collect()
    if not hasattr(logs, "columns"):
        raise LobInputError(
            f"logs of type {type(logs).__name__} are unknown; give a path, a pandas, polars or "
            "Arrow table, an ibis table, or a RewardTable"
        )
    check_columns(getattr(logs, "column_names", logs.columns), columns, "the table")
    if hasattr(logs, "iloc"):  # pandas, whose columns may have numbers for names
        logs = logs.loc[:, [str(name) in columns for name in logs.columns]].rename(columns=str)
    return pa.table({name: _column(logs, name) for name in columns})


def _column(frame: Any, name: str) -> Any:
    import pyarrow as pa

    part = frame.select([name]) if hasattr(frame, "select") else frame[[name]]
    try:
        column = pa.table(part).column(0)
        if getattr(column.type, "extension_name", "") == "arrow.uuid":
            return pa.array([None if value is None else str(value) for value in column.to_pylist()])
        if isinstance(column.type, pa.BaseExtensionType):
            raise TypeError(f"it holds {column.type}, neither numbers nor text")
        if pa.types.is_fixed_size_binary(column.type):  # also Python objects, in polars
            raise TypeError("its values are neither numbers nor text")
        return column
    except (pa.ArrowException, TypeError, ValueError) as error:
        there = part[name]
        values = there.to_list() if hasattr(there, "to_list") else there.to_pylist()
        raise LobInputError(
            f"column {name!r} of the table: {_mixture(values) or error}; make it one type"
        ) from error


def _mixture(values: list[Any]) -> str:
    """Say which types the values have, and where the rarest is first, if there are several."""
    types = [type(value).__name__ for value in values]
    kinds = Counter(kind for kind in types if kind != "NoneType").most_common()
    if len(kinds) < 2:
        return ""
    row = types.index(kinds[-1][0])
    mixed = ", ".join(f"{kind} in {rows(count)}" for kind, count in kinds)
    return f"it mixes types, {mixed} (the first is row {row + 1}, {values[row]!r})"
