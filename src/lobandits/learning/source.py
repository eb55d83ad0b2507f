"""Source: logs as an ibis table, the engine that holds them, and how errors speak of them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from lobandits._checks import closest
from lobandits.errors import LobInputError


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
