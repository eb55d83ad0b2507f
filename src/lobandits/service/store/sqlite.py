"""SQLite: one file in WAL mode, with one writer at a time."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event

from lobandits._checks import one_of
from lobandits.errors import LobInputError
from lobandits.service.store.transaction import WRITE, Transaction

BUSY_SECONDS = 5.0  # that others wait for the one writer
MOST = 1024  # values in one list; lists are padded to powers of two, so few texts are compiled


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

    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""
        marks = ", ".join("?" for _ in kinds.split())
        self.cursor.executemany(statement.format(rows=f"VALUES ({marks})"), rows)


def sqlite_engine(url: URL) -> Engine:
    """Return the engine of a file; the option ``synchronous`` says how durable commits are."""
    if not url.database or url.database == ":memory:":
        raise LobInputError("a store in memory would not outlive its process; use sqlite:///FILE")
    options = dict(url.query)
    synchronous = one_of("synchronous", str(options.pop("synchronous", "full")), ("full", "normal"))
    if options:
        raise LobInputError(f"unknown option {next(iter(options))!r} of SQLite; known: synchronous")
    engine = create_engine(
        url.set(query={}),
        connect_args={"timeout": BUSY_SECONDS, "cached_statements": 256},
        pool_size=8,
        max_overflow=-1,
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
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine
