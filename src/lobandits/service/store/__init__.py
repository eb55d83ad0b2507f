"""The store of a service: SQLite in one file, or PostgreSQL."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from lobandits.errors import LobInputError
from lobandits.service.errors import StoreUnavailableError, UnknownUserError
from lobandits.service.store import tables
from lobandits.service.store.databases import TRANSACTIONS, WRITE, StoredStatistics, make_engine

PAUSES = (0.0, 0.05, 0.2)  # seconds before each further try; SQLite itself waits while busy
SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written

T = TypeVar("T")


class Store:
    """The tables of one service; safe to use from many threads, one per process."""

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        self.url = self.engine.url.render_as_string(hide_password=True)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        driver = self.engine.dialect.loaded_dbapi
        self.transaction = TRANSACTIONS[self.engine.dialect.name]
        self._pauses = () if self.is_sqlite else PAUSES
        self._race: type[Exception] = driver.IntegrityError
        self._lost = (driver.OperationalError, driver.InterfaceError)
        try:
            self.write(tables.migrate)
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

    def newest_version(self) -> int:
        """Return the version of the newest model, 0 if there is none."""
        ((version,),) = self.rows("SELECT max(version) FROM models")
        return version or 0

    def model(self, version: int) -> tuple[str, str]:
        """Return a model's name, and its policy as JSON."""
        query = "SELECT hash, policy FROM models WHERE version = :version"
        ((content, policy),) = self.rows(query, version=version)
        return f"{version}-{content[:8]}", policy

    def has_model(self, content: str) -> bool:
        """Whether a policy with that hash is, or once was, the newest model."""
        return bool(self.rows("SELECT 1 FROM models WHERE hash = :hash", hash=content))

    def put_model(self, policy: str, content: str, arms: Sequence[str]) -> None:
        """Make the policy with that hash the newest model, unless it is that already."""
        newest = text("SELECT version, hash FROM models ORDER BY version DESC LIMIT 1")

        def work(connection: Connection) -> None:
            version, known = connection.execute(newest).first() or (0, None)
            if known != content:
                names = set(connection.scalars(select(tables.arms.c.name)))
                new = enumerate((arm for arm in arms if arm not in names), len(names) + 1)
                if rows := [{"id": number, "name": name} for number, name in new]:
                    connection.execute(insert(tables.arms), rows)
                now = time.time_ns() // 1000
                row = {"version": version + 1, "hash": content, "policy": policy, "time": now}
                connection.execute(insert(tables.models), row)

        self.write(work)

    def arms(self) -> dict[str, int]:
        """Return the numbers of all arms that ever were, by name."""
        return dict(self.rows("SELECT name, id FROM arms"))

    def user_statistics(self, user: str) -> dict[int, tuple[int, float]]:
        """Return (plays, total) of a user by the arm's number."""
        rows = self.rows(
            "SELECT arm_id, plays, total FROM users LEFT JOIN statistics ON user_id = id "
            "WHERE name = :name",
            name=user,
        )
        if not rows:
            raise UnknownUserError(f"no decision was made for the user {user!r:.80}")
        return {arm: (plays, total) for arm, plays, total in rows if arm is not None}

    def recent_statistics(self, decisions: int) -> tuple[list[int], StoredStatistics]:
        """Return the users of the last decisions, each once, and their statistics."""
        query = "SELECT user_id FROM decisions ORDER BY number DESC LIMIT :decisions"
        rows = self.rows(query, decisions=decisions)
        users = list(dict.fromkeys(user for (user,) in rows))
        with self.read() as connection:
            return users, self.transaction(connection).read_statistics(users)

    def log(self, after: int, limit: int) -> Sequence[Any]:
        """Return up to ``limit`` decisions numbered above ``after``, with names, in order."""
        return self.rows(
            "SELECT decisions.*, users.name AS user_name, arms.name AS arm FROM decisions "
            "JOIN users ON users.id = user_id JOIN arms ON arms.id = arm_id "
            "WHERE number > :after ORDER BY number LIMIT :limit",
            after=after,
            limit=limit,
        )

    def activity(self, since: int) -> Sequence[Any]:
        """Return (minute, arm, decisions, rewards, total) from the minute ``since`` on."""
        return self.rows(
            "SELECT minute, name, sum(decisions), sum(rewards), sum(total) "
            "FROM activity JOIN arms ON id = arm_id WHERE minute >= :since GROUP BY minute, name",
            since=since,
        )


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


def _driver_error(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def overdue(store: Store, late: int) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with. It is moved after
    the consumer has dealt with a page, so a long search that is interrupted goes on there; any
    number of processes may do this at once.
    """
    query = (
        "SELECT number, id, time, reward FROM decisions "
        "WHERE number > :after ORDER BY number LIMIT :page"
    )
    found = store.rows("SELECT value FROM meta WHERE key = 'expired'")
    mark = after = found[0].value if found else 0
    settled = True
    while rows := store.rows(query, after=after, page=2000):
        old = [row for row in rows if row.time < late]
        ids = [row.id for row in old if row.reward is None]
        if ids:
            yield ids
        known = mark
        for row in rows:
            settled = settled and row.time < late - SETTLED
            mark = row.number if settled else mark
        if mark > known:
            store.execute(
                "INSERT INTO meta (key, value) VALUES ('expired', :mark) ON CONFLICT (key) "
                "DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value",
                mark=mark,
            )
        if len(old) < len(rows):
            break
        after = rows[-1].number


def forget(store: Store, user: str) -> int:
    """Delete a user with all decisions and statistics; return how many decisions.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be.
    """
    name = {"name": user}
    who = "SELECT id FROM users WHERE name = :name"
    lock = text(who if store.is_sqlite else f"{who} FOR UPDATE")
    old: list[dict[str, int]] = []
    last = 0
    with store.read() as connection:
        number = connection.scalar(text(who), name)
        if number is None:
            return 0
        if store.is_sqlite:
            last = connection.scalar(text("SELECT max(number) FROM decisions")) or 0
            query = text("SELECT number FROM decisions WHERE user_id = :user")
            old = [{"number": n} for n in connection.scalars(query, {"user": number})]

    def work(connection: Connection) -> int:
        if connection.scalar(lock, name) != number:
            return 0  # another call has forgotten the user meanwhile
        # Decisions first: a reward under way has locked its decision, so statistics that it
        # adds are there before they are deleted.
        values = {"user": number, "last": last}
        new = "DELETE FROM decisions WHERE user_id = :user AND number > :last"
        gone = connection.execute(text(new), values).rowcount
        if old:
            connection.execute(text("DELETE FROM decisions WHERE number = :number"), old)
        connection.execute(text("DELETE FROM statistics WHERE user_id = :user"), values)
        connection.execute(text("DELETE FROM users WHERE id = :user"), values)
        return gone + len(old)

    return store.write(work)
