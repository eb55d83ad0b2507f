"""Engines: SQLite files in WAL mode, and PostgreSQL through psycopg."""

from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from lobandits._checks import one_of
from lobandits.errors import LobInputError

BUSY_SECONDS = 5.0
CONNECT_SECONDS = 3
SYNCHRONOUS = ("full", "normal")
WRITE = "lobandits_write"  # execution option of connections that will write
URLS = "write sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE"


def make_engine(text: str) -> Engine:
    """Return the engine of a URL, or say what is wrong with the URL."""
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
    synchronous = one_of("synchronous", str(options.pop("synchronous", "full")), SYNCHRONOUS)
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
        connect_args={"connect_timeout": CONNECT_SECONDS},
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=6,
        pool_timeout=BUSY_SECONDS,
        isolation_level="READ COMMITTED",
    )
