"""Logs of any kind as an ibis table: files and frames on embedded DuckDB, others where they are."""

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

from lobandits._checks import closest
from lobandits.errors import LobInputError
from lobandits.orders.arms import counted

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
    files: tuple[str, ...] = ()
    guessed: bool = False

    def fetch(self, expression: Any) -> Any:
        """Return the rows of an ibis expression as an Arrow table."""
        with _readable(self.name) if self.embedded else nullcontext():
            return self.engine.to_pyarrow(expression)


def open_logs(logs: Any, columns: Sequence[str]) -> Source:
    """Return logs of any kind as an ibis table that has ``columns``, each once."""
    if isinstance(logs, str | os.PathLike):
        source = _files(logs)
    elif _is_ibis(logs):
        source = Source(logs, "the table", logs.get_backend(), embedded=False)
    else:
        source = _frame(logs, columns)
    _check_columns(source.table.columns, columns, source.name)
    return source


def _is_ibis(logs: Any) -> bool:
    return type(logs).__module__.split(".")[0] == "ibis" and hasattr(logs, "get_backend")


def _files(path: str | os.PathLike[str]) -> Source:
    found = _matching(os.fspath(path))
    kinds = {file: _kind(file) for file in found}
    for file, kind in kinds.items():
        if not Path(file).stat().st_size:
            raise LobInputError(f"{file} is empty")
        if kind is None:
            raise LobInputError(f"{file} must end in {', '.join(KINDS)} (or with .gz after it)")
        if kind != kinds[found[0]]:
            raise LobInputError(
                f"{path} matches {found[0]} and {file}; give either CSV or Parquet files"
            )
    return read_files(found, os.fspath(path))


def _matching(path: str) -> list[str]:
    """Return the files that a path, a folder or a glob stands for, sorted."""
    if Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        found = [file for file in Path(path).rglob("*") if _kind(file.name)]
        visible = sorted(str(file) for file in found if not file.name.startswith((".", "_")))
        if not visible:
            raise LobInputError(f"the folder {path} holds no CSV or Parquet file")
        return visible
    everything = glob(path, recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    matches = sorted(file for file in everything if Path(file).is_file())
    if not matches:
        folder = Path(path).parent
        near = [str(file) for file in folder.iterdir()] if folder.is_dir() else []
        what = "no file matches" if has_magic(path) else "there is no file"
        raise LobInputError(f"{what} {path}; {closest(path, near)}Working folder: {Path.cwd()}")
    return matches


def _kind(file: str) -> str | None:
    """Return "csv" or "parquet", by the file's suffix."""
    name = file.lower().removesuffix(".gz")
    return next((kind for suffix, kind in KINDS.items() if name.endswith(suffix)), None)


def read_files(files: Sequence[str], name: str, **options: Any) -> Source:
    """Return the rows of all files; ``options`` go to DuckDB's reader of CSV files."""
    import ibis

    engine = ibis.duckdb.connect()
    csv = _kind(files[0]) == "csv"
    with _readable(name), _quiet():
        if csv:
            table = engine.read_csv(list(files), header=True, **options)
        else:
            table = engine.read_parquet(list(files))
    return Source(table, name, engine, files=tuple(files), guessed=csv and not options)


def _frame(logs: Any, columns: Sequence[str]) -> Source:
    """Return the named columns of a pandas, polars or Arrow table."""
    import ibis
    import pyarrow as pa

    if hasattr(logs, "collect_schema"):  # polars, perhaps lazy
        _check_columns(logs.collect_schema().names(), columns, "the table")
        logs = logs.lazy().select(columns).collect()
    if not hasattr(logs, "columns"):
        raise LobInputError(
            f"logs of type {type(logs).__name__} are unknown; give a path, a pandas, polars or "
            "Arrow table, an ibis table, or a RewardTable"
        )
    _check_columns(getattr(logs, "column_names", logs.columns), columns, "the table")
    table = pa.table({name: _column(logs, name) for name in columns})
    return Source(ibis.memtable(table), "the table", ibis.duckdb.connect())


def _column(frame: Any, name: str) -> Any:
    """Return one column as Arrow, or say which types it mixes."""
    import pyarrow as pa

    part = frame.select([name]) if hasattr(frame, "select") else frame[[name]]
    try:
        column = pa.table(part).column(0)
        if pa.types.is_fixed_size_binary(column.type):  # Python objects, in polars
            raise TypeError(f"its type {part[name].dtype} is unknown")
        return column
    except (pa.ArrowException, TypeError, ValueError) as error:
        types = [type(value).__name__ for value in part[name].to_list() if value is not None]
        (usual, _), *others = Counter(types).most_common()
        if not others:
            raise LobInputError(f"column {name!r} of the table: {error}") from error
        other = others[-1][0]
        rest = ", ".join(f"{kind} in {rows(count)}" for kind, count in others)
        row = types.index(other)
        raise LobInputError(
            f"column {name!r} of the table mixes types: {usual} in most rows, but {rest}, the "
            f"first in row {row + 1}, {part[name].to_list()[row]!r}; make the column one type"
        ) from None


def _check_columns(there: Any, columns: Sequence[str], name: str) -> None:
    names = [str(column) for column in there]
    for column in columns:
        if names.count(column) > 1:
            raise LobInputError(f"{name} has more than one column {column!r}; rename one")
        if len(names) == 1 and column in names[0].split(","):
            raise LobInputError(f"{name} has rows with more or fewer fields than its header")
        if column not in names:
            raise LobInputError(
                f"{name} has no column {column!r}; {closest(column, names)}"
                f"The columns are {', '.join(names)}"
            )


def rows(number: int) -> str:
    """Return "1 row", "2,000 rows"."""
    return counted(number, "row") if number < 1000 else f"{number:,} rows"


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Turn what DuckDB says of a file into an error that names it."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        said = str(error).split("\nLINE ")[0]  # what follows is the query
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        raise LobInputError(
            f"cannot read {name}, which is damaged or no table: {'; '.join(lines[:3])}"
        ) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence that ibis calls DuckDB by a name that DuckDB will drop."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
        yield
