"""SQLite and PostgreSQL: their engines, and the one writing transaction.

The statements here are the hot path, so they go to the driver as text, with parameters only.
Each database has its own words for ``{keys}`` (one of many values) and ``{rows}`` (many rows).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from lobandits._checks import FloatArray, IntArray, one_of
from lobandits.errors import LobInputError

BUSY_SECONDS = 5.0
WRITE = "lobandits_write"  # execution option of connections that will write
URLS = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"
MOST = 1024  # values in one list; lists are padded to powers of two, so few texts are compiled


class StoredDecision(NamedTuple):
    """A row of the table of decisions."""

    id: bytes
    number: int
    user_id: int
    arm_id: int
    probability: float
    model: int
    reward: float | None
    rewarded: int | None


class StoredStatistics(NamedTuple):
    """Rows of the table of statistics, as columns."""

    users: IntArray
    arms: IntArray
    plays: IntArray
    totals: FloatArray


class Transaction(ABC):
    """A writing transaction on ``connection``; each method is a statement or two."""

    set_rewards_text: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        self.cursor: Any = connection.connection.cursor()

    @abstractmethod
    def fetch(self, query: str, kind: str, values: Sequence[Any], lock: str = "") -> list[Any]:
        """Return the rows whose key, of PostgreSQL's type ``kind``, is one of ``values``."""

    @abstractmethod
    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows, whose columns have PostgreSQL's types ``kinds``."""

    def find_users(self, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of the users that exist; they stay until the end."""
        query = "SELECT name, id FROM users WHERE name {keys}"
        return dict(self.fetch(query, "text", names, "FOR KEY SHARE"))

    def add_users(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of users, after adding those that do not exist."""
        statement = "INSERT INTO users (name) {rows} ON CONFLICT DO NOTHING"
        ordered = sorted(names)  # in one order everywhere, so that no two wait for each other
        found: dict[str, int] = {}
        while len(found) < len(ordered):  # again if one was forgotten in between
            self.change(statement, "text", [(name,) for name in ordered])
            found = self.find_users(ordered)
        return found

    def read_statistics(self, user_ids: Sequence[int]) -> StoredStatistics:
        """Return the statistics of users."""
        query = "SELECT user_id, arm_id, plays, total FROM statistics WHERE user_id {keys}"
        rows = self.fetch(query, "bigint", user_ids)
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        users, arms, plays = (np.array(column, np.int64) for column in columns[:3])
        return StoredStatistics(users, arms, plays, np.array(columns[3], np.float64))

    def add_statistics(self, rows: Iterable[tuple[int, int, int, float]]) -> None:
        """Add (user, arm, plays, total) to what is there; every user and arm comes once."""
        statement = (
            "INSERT INTO statistics (user_id, arm_id, plays, total) {rows} "
            "ON CONFLICT (user_id, arm_id) DO UPDATE SET "
            "plays = statistics.plays + excluded.plays, total = statistics.total + excluded.total"
        )
        self.change(statement, "bigint bigint bigint float8", sorted(rows))

    def find_decisions(
        self, ids: Sequence[bytes], lock: bool = False
    ) -> dict[bytes, StoredDecision]:
        """Return the decisions that exist; with ``lock``, others wait to change them."""
        columns = ", ".join(StoredDecision._fields)
        query = f"SELECT {columns} FROM decisions WHERE id {{keys}}"
        rows = self.fetch(query, "bytea", ids, "ORDER BY id FOR UPDATE" if lock else "")
        return {row[0]: StoredDecision._make(row) for row in rows}

    def add_decisions(self, rows: Sequence[tuple[bytes, int, int, float, int, int]]) -> None:
        """Write (id, user, arm, probability, model, time)."""
        columns = "id, user_id, arm_id, probability, model, time"
        statement = f"INSERT INTO decisions ({columns}) {{rows}}"
        self.change(statement, "bytea bigint bigint float8 bigint bigint", rows)

    def set_rewards(self, rows: Sequence[tuple[float, int | None, int]]) -> None:
        """Write (reward, when it was reported, number of the decision)."""
        self.change(self.set_rewards_text, "float8 bigint bigint", rows)

    def add_activity(self, rows: Iterable[tuple[int, int, int, int, int, float]]) -> None:
        """Add (minute, arm, writer, decisions, rewards, total) to what is there."""
        statement = (
            "INSERT INTO activity (minute, arm_id, writer, decisions, rewards, total) {rows} "
            "ON CONFLICT (minute, arm_id, writer) DO UPDATE SET "
            "decisions = activity.decisions + excluded.decisions, "
            "rewards = activity.rewards + excluded.rewards, total = activity.total + excluded.total"
        )
        self.change(statement, "bigint bigint bigint bigint bigint float8", sorted(rows))


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


class PostgresTransaction(Transaction):
    """Arrays as parameters, in binary; rows are locked in one order."""

    set_rewards_text = (
        "UPDATE decisions SET reward = new.reward, rewarded = new.rewarded FROM ({rows}) "
        "AS new (reward, rewarded, number) WHERE decisions.number = new.number"
    )

    def fetch(self, query: str, kind: str, values: Sequence[Any], lock: str = "") -> list[Any]:
        """Return the rows whose key is one of ``values``."""
        if not values:
            return []
        text = f"{query.format(keys=f'= ANY(%b::{kind}[])')} {lock}"
        self.cursor.execute(text, (list(values),), binary=True)
        return list(self.cursor.fetchall())

    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""
        if rows:
            arrays = ", ".join(f"%b::{kind}[]" for kind in kinds.split())
            text = statement.format(rows=f"SELECT * FROM unnest({arrays})")
            self.cursor.execute(text, [list(column) for column in zip(*rows, strict=True)])


TRANSACTIONS: dict[str, type[Transaction]] = {
    "sqlite": SqliteTransaction,
    "postgresql": PostgresTransaction,
}


def make_engine(text: str) -> Engine:
    """Return the engine of a URL."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise LobInputError(f"the store must be a URL, got {text!r}; {URLS}") from None
    if url.drivername == "sqlite":
        return _sqlite(url)
    if url.drivername in ("postgresql", "postgres", "postgresql+psycopg"):
        return _postgresql(url.set(drivername="postgresql+psycopg"))
    raise LobInputError(f"a store cannot be {url.drivername!r}; {URLS}")


def _sqlite(url: URL) -> Engine:
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


def _postgresql(url: URL) -> Engine:
    limits = "-c statement_timeout=10000 -c lock_timeout=5000 -c timezone=utc"
    options = f"{url.query.get('options', '')} {limits}".strip()
    return create_engine(
        url.update_query_dict({"options": options}),
        connect_args={"connect_timeout": 3},
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=6,
        pool_timeout=BUSY_SECONDS,
        isolation_level="READ COMMITTED",
    )
