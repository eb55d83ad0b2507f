"""Store: what a service keeps, on SQLite or PostgreSQL."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import DBAPIError

from lobandits.errors import LobInputError
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store import tables
from lobandits.service.store.access import Access
from lobandits.service.store.engine import make_engine
from lobandits.service.store.postgresql import PostgresTransaction
from lobandits.service.store.sqlite import SqliteTransaction
from lobandits.service.store.transaction import Transaction

T = TypeVar("T")


class StoredModel(NamedTuple):
    """A model: a policy as JSON, and the hash of that text."""

    version: int
    hash: str
    policy: str

    @property
    def name(self) -> str:
        """How decisions name the model."""
        return f"{self.version}-{self.hash[:8]}"


class Store(Access):
    """The tables of one service; safe to use from many threads, one per process.

    Open it with `open_store`. What else is read from it stands in
    `lobandits.service.store.queries`.
    """

    def __init__(self, url: str) -> None:
        super().__init__(make_engine(url))
        self.url = self.engine.url.render_as_string(hide_password=True)
        self.transaction: type[Transaction] = (
            SqliteTransaction if self.engine.dialect.name == "sqlite" else PostgresTransaction
        )
        try:
            self.write(lambda connection, again: tables.migrate(connection))
        except Exception as error:
            self.engine.dispose()
            raise _refusal(self.url, error) from error

    def transact(self, work: Callable[[Transaction, bool], T]) -> T:
        """Return ``work(transaction, again)`` after its commit; see `write`."""
        return self.write(lambda connection, again: work(self.transaction(connection), again))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def newest_version(self) -> int:
        """Return the version of the newest model, 0 if there is none."""
        with self.read() as connection:
            return connection.scalar(select(func.max(tables.models.c.version))) or 0

    def model(self, version: int) -> StoredModel:
        """Return one model."""
        columns = tables.models.c
        query = select(columns.version, columns.hash, columns.policy)
        with self.read() as connection:
            return StoredModel._make(
                connection.execute(query.where(columns.version == version)).one()
            )

    def put_model(self, policy: str, content: str, arms: Sequence[str]) -> int:
        """Return the version of the policy with that hash, a new one unless it is the newest."""
        columns = tables.models.c

        def work(connection: Connection, again: bool) -> int:
            newest = connection.execute(
                select(columns.version, columns.hash).order_by(columns.version.desc()).limit(1)
            ).first()
            if newest and newest.hash == content:
                return int(newest.version)
            _add_arms(connection, arms)
            version = (newest.version if newest else 0) + 1
            connection.execute(
                insert(tables.models).values(
                    version=version, hash=content, policy=policy, time=time.time_ns() // 1000
                )
            )
            return int(version)

        return self.write(work)

    def has_model(self, content: str) -> bool:
        """Whether a policy with that hash is, or once was, the newest model."""
        with self.read() as connection:
            query = select(tables.models.c.version).where(tables.models.c.hash == content)
            return connection.execute(query.limit(1)).first() is not None

    def arms(self) -> dict[str, int]:
        """Return the numbers of all arms that ever were, by name."""
        with self.read() as connection:
            rows = connection.execute(select(tables.arms.c.name, tables.arms.c.id))
            return {str(name): int(number) for name, number in rows}


def open_store(url: str) -> Store:
    """Return the store at a URL; it is created, or brought up to date, if need be.

    Parameters
    ----------
    url
        ``sqlite:///FILE`` or ``postgresql://USER:PASSWORD@HOST/DATABASE``. With
        ``sqlite:///FILE?synchronous=normal`` a commit survives the death of the process but
        perhaps not a loss of power; the default, ``full``, survives both.

    Raises
    ------
    LobInputError
        If the URL, or what is found there, is no store.
    StoreUnavailableError
        If the store cannot be reached.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = open_store(f"sqlite:///{folder.name}/lob.db")
    >>> store.newest_version()
    0
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


def _add_arms(connection: Connection, names: Iterable[str]) -> None:
    known = set(connection.scalars(select(tables.arms.c.name)))
    new = [name for name in names if name not in known]
    rows = [{"id": len(known) + i, "name": name} for i, name in enumerate(new, start=1)]
    if rows:
        connection.execute(insert(tables.arms), rows)
