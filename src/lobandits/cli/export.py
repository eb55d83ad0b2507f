"""``lob export``: the log of decisions, as a file."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Annotated

import typer

from lobandits.cli.options import (
    DEFAULT_PROBLEM,
    LOCAL,
    Problem,
    Store,
    checked_suffix,
    existing,
    need_service,
)


def export(
    out: Annotated[Path, typer.Option(help="Where the log goes.")],
    store: Store = LOCAL,
    problem: Problem = DEFAULT_PROBLEM,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            help="ndjson (one JSON object a line), csv or parquet; by default as --out ends: "
            ".ndjson, .jsonl, .csv or .parquet."
        ),
    ] = None,
    columns: Annotated[
        str,
        typer.Option(
            help="log: all that is known. obp: user, action, arm, reward, pscore of rewarded "
            "decisions, as Open Bandit Pipeline names them."
        ),
    ] = "log",
    after: Annotated[int, typer.Option(help="Only decisions numbered above this.")] = 0,
) -> None:
    """Write the decisions of a store, with their rewards, to a file: all of it or nothing.

    Servers may run meanwhile. To continue an export, give as --after the number of the last row
    that was a minute old: decisions still being written then may have lower numbers.
    """
    need_service()
    from lobandits.basics.checks import one_of, whole
    from lobandits.basics.files import write_atomic
    from lobandits.service import open_store
    from lobandits.service.reports.log import ENDS, KINDS, NAMES, LogRow, exported, log_rows
    from lobandits.service.reports.log import export as parts_of
    from lobandits.service.store.models import StoredNames

    ending = out.suffix.lower()
    checked_suffix("--out", out, tuple(ENDS) if format is None else (ending,))
    form = ENDS[ending] if format is None else one_of("--format", format, list(KINDS))
    names = one_of("--columns", columns, list(NAMES))
    with closing(open_store(existing(store))) as opened:
        first = whole("--after", after, least=0)
        rows = exported(log_rows(opened, StoredNames(opened), problem, first), names)  # type: ignore[arg-type]
        written = 0

        def counted_rows() -> Iterator[LogRow]:
            nonlocal written
            for written, row in enumerate(rows, 1):  # noqa: B007
                yield row

        def write(file: IO[bytes]) -> None:
            for part in parts_of(counted_rows(), form, names):  # type: ignore[arg-type]
                file.write(part)

        write_atomic(out, write)
    typer.echo(f"{written:,} {'row' if written == 1 else 'rows'} saved to {out}")
