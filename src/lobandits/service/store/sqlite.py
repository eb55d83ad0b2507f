"""SQLite: one file in WAL mode, with one writer at a time."""

import os
import sqlite3
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event

from lobandits.basics.checks import one_of
from lobandits.errors import LobInputError
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store.tables import migrate
from lobandits.service.store.transaction import WRITE, Transaction

OLDEST = (3, 24, 0)  # the first that inserts or else updates
BUSY_SECONDS = 5.0  # that others wait for the one writer
MOST = 1024  # values in one list; lists are padded to powers of two, so few texts are compiled
ROWS = 64  # inserted by one statement, in half the time; rows that exist are updated one by one:
# a statement that updates several must be able to take back the first, and copies pages for that


class SqliteTransaction(Transaction):
    """``IN`` lists and ``executemany``; the one writer has its lock, so reads lock nothing."""

    set_rewards_text = "UPDATE decisions SET reward = ?, rewarded = ? WHERE number = ?"

    def fetch(self, query: str, kind: str, values: Sequence[Any], lock: str = "") -> list[Any]:
        """Return the rows whose key is one of ``values``."""
        rows: list[Any] = []
        for first in range(0, len(values), MOST):
            part = values[first : first + MOST]
            size = 1 << (len(part) - 1).bit_length()
            filled = [*part, *[part[-1]] * (size - len(part))]
            self.cursor.execute(query.format(keys=f"IN ({('?,' * size)[:-1]})"), filled)
            rows += self.cursor.fetchall()
        return rows

    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """Execute the statement for all rows, as many at once as it pays."""
        changed = 0
        some = ROWS if "{rows}" in statement and "DO UPDATE" not in statement else 1
        whole = len(rows) - len(rows) % some if some > 1 else 0
        if whole:
            blocks = (chain.from_iterable(rows[i : i + some]) for i in range(0, whole, some))
            self.cursor.executemany(_with_rows(statement, kinds, some), map(tuple, blocks))
            changed += self.cursor.rowcount
        if whole < len(rows):
            self.cursor.executemany(_with_rows(statement, kinds, 1), rows[whole:])
            changed += self.cursor.rowcount
        return changed


@cache
def _with_rows(statement: str, kinds: str, n: int) -> str:
    """Return a statement for so many rows at once; there are few statements, and two numbers."""
    row = f"({', '.join('?' for _ in kinds.split())})"
    return statement.format(rows=f"VALUES {', '.join([row] * n)}")


def sqlite_engine(url: URL) -> Engine:
    """Return the engine of a file; the option ``synchronous`` says how durable commits are."""
    if not url.database or url.database == ":memory:":
        raise LobInputError("a store in memory would not outlive its process; use sqlite:///FILE")
    if sqlite3.sqlite_version_info < OLDEST:
        raise LobInputError(
            "a store needs SQLite 3.24 or newer, and this Python has "
            f"{sqlite3.sqlite_version}; use another Python, or PostgreSQL"
        )
    options = dict(url.query)
    synchronous = one_of("synchronous", str(options.pop("synchronous", "full")), ("full", "normal"))
    if options:
        raise LobInputError(f"unknown option {next(iter(options))!r} of SQLite; known: synchronous")
    file = f"file:{quote(str(Path(url.database).absolute()))}?mode=rw"  # never a new, empty one

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            file, uri=True, timeout=BUSY_SECONDS, cached_statements=256, check_same_thread=False
        )

    engine = create_engine(
        url.set(query={}),
        creator=connect,
        pool_size=8,
        max_overflow=-1,
        pool_reset_on_return=None,  # every transaction has ended before: one call less
        hide_parameters=True,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            "journal_mode = wal",
            f"synchronous = {synchronous}",
            "cache_size = -65536",
            "wal_autocheckpoint = 4000",
            "secure_delete = on",
        ):
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        write = connection.get_execution_options().get(WRITE)
        driver = connection.connection.driver_connection  # what is around it takes 30 us
        assert driver is not None
        driver.execute("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


class StoreFile:
    """The file of a store, known by its device and inode: it may be removed under a server."""

    def __init__(self, url: URL) -> None:
        assert url.database
        self.path = Path(url.database).absolute()
        self._url = url
        self._known: tuple[int, int] | None = None

    def create(self) -> bool:
        """Create the file if there is none, whole and for its owner alone; whether it did."""
        new = not self.path.exists()
        if new:
            self._create()
        if self.path.is_file() and not self.path.stat().st_size:
            raise LobInputError(
                f"{self.path} is empty, and no store ever is; restore it from a backup, or remove "
                "it, and a new store is created"
            )
        here = self.path.stat()
        self._known = here.st_dev, here.st_ino
        return new

    def check(self) -> None:
        """Raise `StoreUnavailableError` if the file is no longer the one that was opened."""
        try:
            now = self.path.stat()
        except OSError:
            now = None
        if now is None or (now.st_dev, now.st_ino) != self._known:
            raise StoreUnavailableError(
                f"the file {self.path} was removed or replaced while it was in use; put it back, "
                "or restore a backup and start anew"
            )

    def _create(self) -> None:
        """Make the store under another name, then give it its own, unless another process has."""
        try:
            number, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        except OSError as error:
            raise StoreUnavailableError(f"cannot create the store {self.path}: {error}") from error
        os.close(number)
        try:
            engine = sqlite_engine(self._url.set(database=name))
            writing = engine.connect().execution_options(**{WRITE: True})
            with writing as connection, connection.begin():
                migrate(connection)
            engine.dispose()
            with suppress(FileExistsError):
                os.link(name, self.path)
        finally:
            Path(name).unlink()
