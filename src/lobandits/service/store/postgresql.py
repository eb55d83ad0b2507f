"""PostgreSQL, through psycopg 3."""

import select
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from psycopg import Connection as DriverConnection
from psycopg import Error, OperationalError
from sqlalchemy import URL, Connection, Engine, create_engine, event

from lobandits.errors import LobInputError
from lobandits.service.store.transaction import Transaction

BUSY_SECONDS = 5.0  # that a thread waits for a connection
LONGEST_SECONDS = 8.0  # that it waits for an answer; the server itself gives up a little earlier
PING_SECONDS = 2.0
# What psycopg's generators wait for (1: read, 2: write, 3: both), as poll has it.
EVENTS = {1: select.POLLIN, 2: select.POLLOUT, 3: select.POLLIN | select.POLLOUT}


class WatchedConnection(DriverConnection[Any]):
    """A connection on which no answer is waited for without end, as a frozen server gives none."""

    longest: float | None = LONGEST_SECONDS

    def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
        """Return what ``gen`` returns; close the connection if it takes too long."""
        try:
            return self._wait(gen)
        except Error:
            raise
        except BaseException:  # an interrupted connection is in an unknown state
            self.pgconn.finish()
            raise

    def _wait(self, gen: Generator[Any, Any, Any]) -> Any:
        end = None if self.longest is None else monotonic() + self.longest
        poll = select.poll()
        ready = None
        while True:
            try:
                wanted = next(gen) if ready is None else gen.send(ready)
            except StopIteration as done:
                return done.value
            poll.register(self.pgconn.socket, EVENTS[wanted])
            found = poll.poll(None if end is None else max(0.0, 1000 * (end - monotonic())))
            if not found:
                self.pgconn.finish()
                raise OperationalError(f"no answer in {self.longest:g} seconds")
            happened = found[0][1]
            ready = bool(happened & select.POLLIN) | 2 * bool(happened & select.POLLOUT)
            ready = ready or wanted  # the connection broke: the driver says how


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

    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """Execute the statement for all rows."""
        if not rows:
            return 0
        arrays = ", ".join(f"%b::{kind}[]" for kind in kinds.split())
        text = statement.format(rows=f"SELECT * FROM unnest({arrays})")
        self.cursor.execute(text, [list(column) for column in zip(*rows, strict=True)])
        return int(self.cursor.rowcount)


def postgresql_engine(url: URL) -> Engine:
    """Return the engine of a database; no statement or lock is waited for without end."""
    limits = "-c statement_timeout=7000 -c lock_timeout=5000 -c timezone=utc"
    options = f"{url.query.get('options', '')} {limits}".strip()
    engine = create_engine(
        url.set(drivername="postgresql+psycopg").update_query_dict({"options": options}),
        connect_args={
            "connect_timeout": 3,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        },
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=6,
        pool_timeout=BUSY_SECONDS,
        isolation_level="READ COMMITTED",
        hide_parameters=True,
    )
    ping = engine.dialect.do_ping

    @event.listens_for(engine, "do_connect")
    def connect(dialect: Any, record: Any, cargs: Any, cparams: Any) -> WatchedConnection:
        return WatchedConnection.connect(*cargs, **cparams)

    def quick_ping(connection: Any) -> bool:
        connection.longest = PING_SECONDS
        try:
            return ping(connection)
        finally:
            connection.longest = LONGEST_SECONDS

    engine.dialect.do_ping = quick_ping  # type: ignore[assignment, method-assign]
    return engine


@contextmanager
def migrating_postgresql(connection: Connection) -> Iterator[None]:
    """Let one process at a time change the tables, however long it takes.

    Refuse a database that cannot hold every name.
    """
    driver: Any = connection.connection.driver_connection
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        raise LobInputError(
            f"the database has the encoding {encoding}, which cannot hold every name; create it "
            "with UTF8: createdb --encoding UTF8 --template template0 NAME"
        )
    driver.longest = None
    try:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql("SET LOCAL lock_timeout = 0")
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(6071923)")
        yield
    finally:
        driver.longest = LONGEST_SECONDS
