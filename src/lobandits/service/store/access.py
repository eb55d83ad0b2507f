"""Transactions that are tried again where that is safe, and errors in the service's words."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store.engine import WRITE

PAUSES = (0.0, 0.05, 0.2)  # seconds before each further try; SQLite itself waits while busy
TOO_LONG = ("57014", "55P03")  # PostgreSQL's codes: a statement, or the wait for a lock
UNAVAILABLE = "the store is not available or too busy; try again later"

T = TypeVar("T")


class Access:
    """Reads and writes through one engine."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        driver = engine.dialect.loaded_dbapi
        self._race: type[Exception] = driver.IntegrityError
        self._lost = (driver.OperationalError, driver.InterfaceError)
        self._pauses = PAUSES if engine.dialect.name == "postgresql" else ()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Yield a connection that reads in one transaction."""
        try:
            with self.engine.connect() as connection, connection.begin():
                yield connection
        except Exception as error:
            self._raise(error)

    def write(self, work: Callable[[Connection, bool], T]) -> T:
        """Return ``work(connection, again)`` after its commit; all or nothing is written.

        ``work`` may run several times: ``again`` says that an earlier try may, or may not, have
        been committed. So it must recognise what it has written before.

        Raises
        ------
        StoreUnavailableError
            If the database cannot be reached, or is locked for too long.
        """
        again = False
        for pause in (*self._pauses, None):
            try:
                return self._try(work, again)
            except Exception as error:
                if pause is None or not self._may_pass(error):
                    self._raise(error)
                time.sleep(pause)
                again = True
        raise AssertionError

    def _try(self, work: Callable[[Connection, bool], T], again: bool) -> T:
        with self.engine.connect().execution_options(**{WRITE: True}) as connection:
            try:
                with connection.begin():
                    return work(connection, again)
            except Exception as error:
                if isinstance(_driver_error(error), self._lost):
                    connection.invalidate()
                raise

    def _may_pass(self, error: Exception) -> bool:
        """Whether another try may succeed: the connection was lost, or two processes met."""
        cause = _driver_error(error)
        took_long = getattr(cause, "sqlstate", None) in TOO_LONG
        return isinstance(cause, (*self._lost, self._race)) and not took_long

    def _raise(self, error: Exception) -> NoReturn:
        if isinstance(_driver_error(error), (*self._lost, NoConnectionError)):
            raise StoreUnavailableError(UNAVAILABLE) from error
        raise error


def _driver_error(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error
