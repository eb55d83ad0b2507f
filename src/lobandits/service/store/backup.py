"""A copy of a SQLite store at one moment, while servers go on writing to it."""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from lobandits.errors import LobInputError
from lobandits.service.store.store import Store


class Copied(NamedTuple):
    """What a copy holds."""

    users: int
    decisions: int


def back_up(store: Store, path: Path) -> Copied:
    """Copy a store to a file, by SQLite's online backup; it is checked before it gets its name.

    All is copied in one step, from one snapshot: writers neither wait nor make it begin anew.
    """
    if not store.is_sqlite:
        raise LobInputError(
            f"{store.url} is no file; back up PostgreSQL with its own tools: pg_dump "
            "--format=custom, or continuous archiving"
        )
    place = path.resolve()
    if place == Path(str(store.engine.url.database)).resolve():
        raise LobInputError(f"{path} is the store itself; give another file")
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        copied = _copy(store, temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(place)
    except (OSError, sqlite3.Error) as error:
        raise LobInputError(f"cannot write {path}: {error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return copied


def _copy(store: Store, path: Path) -> Copied:
    """Copy, let the copy be one file without a log beside it, and check it whole."""
    with store.read() as connection, closing(sqlite3.connect(path)) as copy:
        source = connection.connection.driver_connection
        assert isinstance(source, sqlite3.Connection)
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = delete")
        ((found,),) = copy.execute("PRAGMA integrity_check(1)").fetchall()
        if found != "ok":
            raise LobInputError(f"{store.url} is damaged: {found}; restore an earlier backup")
        users, decisions = (
            copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("users", "decisions")
        )
    return Copied(users, decisions)
