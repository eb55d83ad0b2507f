"""The databases that can be a store, by the scheme of their URLs."""

from collections.abc import Callable
from typing import NamedTuple

from sqlalchemy import URL, Engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from lobandits.errors import LobInputError
from lobandits.service.store.postgresql import PostgresTransaction, postgresql_engine
from lobandits.service.store.sqlite import SqliteTransaction, sqlite_engine
from lobandits.service.store.transaction import Transaction

URLS = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"


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
