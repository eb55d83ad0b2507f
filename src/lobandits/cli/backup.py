"""``lob backup``: a copy of a SQLite store, while servers write to it."""

from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from lobandits.cli.options import LOCAL, Store, checked_suffix, existing, need_service


def backup(
    out: Annotated[Path, typer.Option(help="Where the copy goes; it is replaced as a whole.")],
    store: Store = LOCAL,
) -> None:
    """Copy a SQLite store to a file, checked and complete; servers may run meanwhile.

    A plain cp of a store that is in use loses rows, since the newest are in the file beside it.
    PostgreSQL has tools of its own: pg_dump.
    """
    need_service()
    from lobandits.service import open_store
    from lobandits.service.store.backup import back_up

    checked_suffix("--out", out, (out.suffix.lower(),))
    with closing(open_store(existing(store))) as opened:
        copied = back_up(opened, out)
    typer.echo(f"{copied.decisions:,} decisions and {copied.users:,} users saved to {out}")
