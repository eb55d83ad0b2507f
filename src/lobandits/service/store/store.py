"""A store: transactions that are tried again where that may help, and errors that say why not."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from lobandits.service.store.postgresql import PostgresTransaction, postgresql_engine
from lobandits.service.store.sqlite import SqliteTransaction, sqlite_engine
from lobandits.service.store.tables import migrate
from lobandits.service.store.transaction import WRITE, Transaction

PAUSES = (0.0, 0.05, 0.2)  # seconds before each further try; SQLite itself waits while busy
URLS = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"

T = TypeVar("T")


class Database(NamedTuple):
    """How to connect, and how to write."""

    engine: Callable[[URL], Engine]
    transaction: type[Transaction]


SQLITE = Database(sqlite_engine, SqliteTransaction)
POSTGRESQL = Database(postgresql_engine, PostgresTransaction)
DATABASES = {
    "sqlite": SQLITE,
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "postgresql+psycopg": POSTGRESQL,
}


def connect(text: str) -> tuple[Engine, type[Transaction]]:
    """Return the engine of a URL, and its transactions."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise LobInputError(f"the store must be a URL, got {text!r}; {URLS}") from None
    if url.drivername not in DATABASES:
        raise LobInputError(f"a store cannot be {url.drivername!r}; {URLS}")
    database = DATABASES[url.drivername]
    return database.engine(url), database.transaction


class Store:
    """The tables of one service; safe to use from many threads, one per process."""

    def __init__(self, url: str) -> None:
        self.engine, self.transaction = connect(url)
        self.url = self.engine.url.render_as_string(hide_password=True)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        driver = self.engine.dialect.loaded_dbapi
        self._pauses = () if self.is_sqlite else PAUSES
        self._race: type[Exception] = driver.IntegrityError
        self._lost = (driver.OperationalError, driver.InterfaceError)
        try:
            self.write(migrate)
        except Exception as error:
            self.close()
            raise _refusal(self.url, error) from error

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
        for pause in (*self._pauses, None):
            try:
                return self._try(work)
            except Exception as error:
                if pause is None or not self._may_pass(error):
                    self._raise(error)
                time.sleep(pause)
        raise AssertionError

    def _try(self, work: Callable[[Connection], T]) -> T:
        with self.engine.connect().execution_options(**{WRITE: True}) as connection:
            try:
                with connection.begin():
                    return work(connection)
            except Exception as error:
                if isinstance(_driver_error(error), self._lost):
                    connection.invalidate()
                raise

    def _may_pass(self, error: Exception) -> bool:
        """Whether another try may succeed: the connection was lost, or two processes met."""
        cause = _driver_error(error)
        # PostgreSQL's codes of a statement, or the wait for a lock, that took too long.
        took_long = getattr(cause, "sqlstate", None) in ("57014", "55P03")
        return isinstance(cause, (*self._lost, self._race)) and not took_long

    def _raise(self, error: Exception) -> NoReturn:
        if isinstance(_driver_error(error), (*self._lost, NoConnectionError)):
            raise StoreUnavailableError(
                "the store is not available or too busy; try again later"
            ) from error
        raise error


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
        reason = str(error.__cause__).splitlines()[0]
        return StoreUnavailableError(f"cannot open the store {url}: {reason}")
    if isinstance(error, DBAPIError):
        return LobInputError(f"{url} is no store of lobandits: {error.orig}")
    return error


def _driver_error(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error
