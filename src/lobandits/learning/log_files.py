"""Logs in CSV and Parquet files: found, and read by an embedded DuckDB."""

import csv
import gzip
import warnings
from collections.abc import Sequence
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Any

from lobandits._checks import closest
from lobandits._words import counted
from lobandits.errors import LobInputError
from lobandits.learning.source import Source, readable

KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "csv", ".txt": "csv"}


def open_files(paths: Sequence[str]) -> Source:
    """Return the rows of all files that the paths stand for."""
    found = list(dict.fromkeys(file for path in paths for file in _matching(path)))
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


def as_written(source: Source, user: str, arm: str, reward: str) -> Source:
    """Read users and arms that look like times, yes or no, or fractions as the text they are.

    Arm 08:00 is not to become 08:00:00. Rewards that look whole may have fractions further down.
    """
    kinds = source.table.schema()
    types = {
        name: "VARCHAR"
        for name in (user, arm)
        if not (kinds[name].is_integer() or kinds[name].is_string())
    }
    if kinds[reward].is_integer():
        types[reward] = "DOUBLE"
    return _read(source.files, source.name, types=types) if types else source


def as_text(source: Source) -> Source:
    """Read all columns of CSV files as text."""
    return _read(source.files, source.name, all_varchar=True)
