"""A store: transactions that are tried again where that may help, and errors that say why not."""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any, NamedTuple, NoReturn, TypeVar

try:
    from sqlalchemy import URL, Connection, Engine, text
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, DBAPIError
    from sqlalchemy.exc import TimeoutError as NoConnectionError
except ImportError as error:
    raise ImportError("a service needs more packages: pip install '.[service]'") from error

from lobandits.errors import LobInputError
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store.postgresql import (
    PostgresTransaction,
    migrating_postgresql,
    postgresql_engine,
)
from lobandits.service.store.sqlite import SqliteTransaction, StoreFile, sqlite_engine
from lobandits.service.store.tables import microseconds, migrate
from lobandits.service.store.transaction import WRITE, Transaction

PAUSES = (0.0, 0.05, 0.2)  # seconds before each further try; SQLite itself waits while busy
RETRY_SECONDS = 3.0  # after which no further try is made
READ_ONLY = "25006"  # PostgreSQL's code of a write that is refused
BROKEN = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
URLS = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"

T = TypeVar("T")

logger = logging.getLogger(__name__)


class Database(NamedTuple):
    """How to connect, how to write, and what to do around the migration."""

    engine: Callable[[URL], Engine]
    transaction: type[Transaction]
    migrating: Callable[[Connection], AbstractContextManager[Any]]


SQLITE = Database(sqlite_engine, SqliteTransaction, nullcontext)
POSTGRESQL = Database(postgresql_engine, PostgresTransaction, migrating_postgresql)
DATABASES = {
    "sqlite": SQLITE,
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "postgresql+psycopg": POSTGRESQL,
}


def connect(text: str) -> tuple[Engine, Database]:
    """Return the engine of a URL, and its database."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise LobInputError(f"the store must be a URL, got {text!r}; {URLS}") from None
    if url.drivername not in DATABASES:
        raise LobInputError(f"a store cannot be {url.drivername!r}; {URLS}")
    database = DATABASES[url.drivername]
    return database.engine(url), database


class Store:
    """The tables of one service; safe to use from many threads, one per process."""

    def __init__(self, url: str) -> None:
        self.engine, database = connect(url)
        self._writing = self.engine.execution_options(**{WRITE: True})  # the same connections
        self.transaction = database.transaction
        self.url = self.engine.url.render_as_string(hide_password=True)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        driver = self.engine.dialect.loaded_dbapi
        self.on_unavailable: Callable[[], object] = lambda: None  # told of every failure
        self._pauses = () if self.is_sqlite else PAUSES
        self._race: type[Exception] = driver.IntegrityError
        self._lost = (driver.OperationalError, driver.InterfaceError)
        self._file = StoreFile(self.engine.url) if self.is_sqlite else None
        self._outage: str | None = None
        self.forgetting = Lock()  # held while a user is forgotten
        try:
            self._open(database)
        except Exception as error:
            self.close()
            raise _refusal(self.url, error) from error

    def _open(self, database: Database) -> None:
        """Create the store, or bring it up to date, if need be."""

        def work(connection: Connection) -> bool:
            with database.migrating(connection):
                return migrate(connection)

        new = self._file.create() if self._file is not None else False
        if self.write(work) or new:
            logger.info("created a store", extra={"fields": {"store": self.url}})

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that reads in one transaction."""
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        except Exception as error:
            self._raise(error)

    def rows(self, query: str, **values: Any) -> Sequence[Any]:
        """Return the rows of a query in SQL."""
        with self.read() as connection:
            return connection.execute(text(query), values).all()

    def execute(self, statement: str, **values: Any) -> None:
        """Execute a statement in SQL, in a transaction of its own."""
        self.write(lambda connection: connection.execute(text(statement), values))

    def write(self, work: Callable[[Connection], T]) -> T:
        """Return ``work(connection)`` after its commit; all or nothing is written.

        ``work`` may run several times, and must recognise what an earlier try has committed.
        """
        last = time.monotonic() + RETRY_SECONDS
        for pause in (*self._pauses, None):
            try:
                done = self._try(work)
            except Exception as error:
                if pause is None or time.monotonic() > last or not self._may_pass(error):
                    self._raise(error)
                time.sleep(pause)
            else:
                if self._outage is not None:
                    self._note(None)
                return done
        raise AssertionError

    def check_writes(self) -> None:
        """Return if the store can be written, else raise `StoreUnavailableError`."""
        self.execute(
            "INSERT INTO meta (key, value) VALUES ('ready', :now) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            now=microseconds(),
        )

    def _try(self, work: Callable[[Connection], T]) -> T:
        with self._writing.connect() as connection:
            try:
                with connection.begin():
                    done = work(connection)
            except Exception as error:
                if self._is_outage(error):
                    connection.invalidate()
                raise
        if self._file is not None:
            self._file.check()
        return done

    def _may_pass(self, error: Exception) -> bool:
        """Whether another try may succeed: the connection was lost, or two processes met."""
        cause = _driver_error(error)
        # PostgreSQL's codes of a statement, or the wait for a lock, that took too long.
        took_long = _code(cause) in ("57014", "55P03")
        known = (*self._lost, self._race, StoreUnavailableError)
        return isinstance(cause, known) and not took_long

    def _is_outage(self, error: Exception) -> bool:
        """Whether the store, and not the call, is to blame."""
        known = (*self._lost, NoConnectionError)
        return isinstance(_driver_error(error), known) or _code(error) in (READ_ONLY, *BROKEN)

    def _raise(self, error: Exception) -> NoReturn:
        if self._file is not None and self._is_outage(error):
            try:
                self._file.check()
            except StoreUnavailableError as gone:  # what the driver only knows as "unable to open"
                error = gone
        if isinstance(error, StoreUnavailableError):
            self.on_unavailable()
            self._note(error)
        elif self._is_outage(error):
            self.on_unavailable()
            self._note(_driver_error(error))
            raise StoreUnavailableError(
                "the store is not available or too busy; try again later"
            ) from error
        raise error

    def _note(self, cause: BaseException | None) -> None:
        """Log an outage, or its end, once; the first line of a driver's message has no values."""
        kind = None if cause is None else f"{type(cause).__name__} {_code(cause) or ''}".strip()
        if kind != self._outage:
            self._outage = kind
            if cause is None:
                logger.warning("the store answers again")
            else:
                reason = (str(cause).splitlines() or [""])[0]
                fields = {"error": kind, "reason": reason}
                logger.error("the store does not answer", extra={"fields": fields})


def open_store(url: str) -> Store:
    """Return the store at a URL; it is created, or brought up to date, if need be.

    Raises `StoreUnavailableError` if it cannot be reached.

    Parameters
    ----------
    url
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``. With
        ``sqlite:///FILE?synchronous=normal`` a commit survives the death of the process but
        perhaps not a loss of power; the default, ``full``, survives both.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(f"sqlite:///{folder.name}/lob.db")
    >>> store.is_sqlite
    True
    >>> store.close(); folder.cleanup()
    """
    return Store(url)


def _refusal(url: str, error: Exception) -> Exception:
    """Return what to say of a store that cannot be opened."""
    if isinstance(error, StoreUnavailableError):
        reason = (
            str(_driver_error(error.__cause__)) if error.__cause__ else str(error)
        ).splitlines()[0]
        if _code(error.__cause__) in BROKEN:
            return LobInputError(f"{url} is no store of lobandits: {reason}")
        return StoreUnavailableError(f"cannot open the store {url}: {reason}")
    if isinstance(error, DBAPIError):
        return LobInputError(f"{url} is no store of lobandits: {error.orig}")
    return error


def _driver_error(error: BaseException | None) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _code(error: BaseException | None) -> Any:
    """Return what a database calls an error: SQLite's number, or PostgreSQL's code."""
    cause = _driver_error(error)
    return getattr(cause, "sqlite_errorcode", None) or getattr(cause, "sqlstate", None)
