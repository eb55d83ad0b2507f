"""Store: what a service keeps, on SQLite or PostgreSQL."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection, and_, delete, func, insert, select, update
from sqlalchemy.exc import DBAPIError

from lobandits.errors import LobInputError
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store import tables
from lobandits.service.store.access import Access
from lobandits.service.store.engine import make_engine
from lobandits.service.store.postgresql import PostgresTransaction
from lobandits.service.store.sqlite import SqliteTransaction
from lobandits.service.store.transaction import StoredStatistics, Transaction

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


class StoredLog(NamedTuple):
    """A decision as exports need it; times are microseconds."""

    number: int
    id: bytes
    user: str
    arm: str
    arm_id: int
    probability: float
    version: int
    time: int
    reward: float | None
    rewarded: int | None


class StoredWait(NamedTuple):
    """A decision as the search for late rewards needs it."""

    number: int
    id: bytes
    time: int
    rewarded: bool


class Store:
    """The tables of one service; safe to use from many threads, one per process.

    Open it with `open_store`.
    """

    def __init__(self, url: str) -> None:
        self.engine = make_engine(url)
        self.url = self.engine.url.render_as_string(hide_password=True)
        self._access = Access(self.engine)
        self._kind: type[Transaction] = (
            SqliteTransaction if self.engine.dialect.name == "sqlite" else PostgresTransaction
        )
        self.read = self._access.read
        try:
            self._access.write(lambda connection, again: tables.migrate(connection))
        except Exception as error:
            self.engine.dispose()
            raise _refusal(self.url, error) from error

    def transact(self, work: Callable[[Transaction, bool], T]) -> T:
        """Return ``work(transaction, again)`` after its commit; see `Access.write`."""
        return self._access.write(lambda connection, again: work(self._kind(connection), again))

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def newest_version(self) -> int:
        """Return the version of the newest model, 0 if there is none."""
        with self.read() as connection:
            return connection.scalar(select(func.max(tables.models.c.version))) or 0

    def models(self) -> list[StoredModel]:
        """Return all models, the oldest first."""
        columns = tables.models.c
        query = select(columns.version, columns.hash, columns.policy).order_by(columns.version)
        with self.read() as connection:
            return [StoredModel._make(row) for row in connection.execute(query)]

    def model(self, version: int) -> StoredModel:
        """Return one model."""
        columns = tables.models.c
        query = select(columns.version, columns.hash, columns.policy)
        with self.read() as connection:
            return StoredModel._make(
                connection.execute(query.where(columns.version == version)).one()
            )

    def put_model(self, policy: str, content: str, arms: Sequence[str], now: int) -> int:
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
                insert(tables.models).values(version=version, hash=content, policy=policy, time=now)
            )
            return int(version)

        return self._access.write(work)

    def arms(self) -> dict[str, int]:
        """Return the numbers of all arms that ever were, by name."""
        with self.read() as connection:
            rows = connection.execute(select(tables.arms.c.name, tables.arms.c.id))
            return {str(name): int(number) for name, number in rows}

    def statistics(self, user: str) -> dict[int, tuple[int, float]] | None:
        """Return (plays, total) of a user by the arm's number; None if there is no such user."""
        statistics, users = tables.statistics.c, tables.users.c
        with self.read() as connection:
            number = connection.scalar(select(users.id).where(users.name == user))
            if number is None:
                return None
            rows = connection.execute(
                select(statistics.arm_id, statistics.plays, statistics.total).where(
                    statistics.user_id == number
                )
            )
            return {arm: (plays, total) for arm, plays, total in rows}

    def read_statistics(self, user_ids: Sequence[int]) -> StoredStatistics:
        """Return the statistics of users, given by their numbers."""
        with self.read() as connection:
            return self._kind(connection).read_statistics(user_ids)

    def forget(self, user: str) -> int:
        """Delete a user with all decisions and statistics; return how many decisions."""
        users, statistics, decisions = tables.users.c, tables.statistics.c, tables.decisions.c
        who = select(users.id).where(users.name == user)
        with self.read() as connection:
            number = connection.scalar(who)
            old, last = _scan(connection, number)

        def work(connection: Connection, again: bool) -> int:
            if connection.scalar(who.with_for_update()) != number:
                return 0  # another call has forgotten the user meanwhile
            # Decisions first: a reward under way has locked its decision, so statistics that it
            # adds are there before they are deleted.
            new = and_(decisions.number > last, decisions.user_id == number)
            gone = connection.execute(delete(tables.decisions).where(new)).rowcount
            for key in old:
                connection.execute(delete(tables.decisions).where(decisions.number == key))
            connection.execute(delete(tables.statistics).where(statistics.user_id == number))
            connection.execute(delete(tables.users).where(users.id == number))
            return gone + len(old)

        return 0 if number is None else self._access.write(work)

    def log(self, after: int, limit: int) -> list[StoredLog]:
        """Return up to ``limit`` decisions numbered above ``after``, in order."""
        decisions, users, arms = tables.decisions.c, tables.users.c, tables.arms.c
        query = (
            select(
                decisions.number,
                decisions.id,
                users.name,
                arms.name,
                decisions.arm_id,
                decisions.probability,
                decisions.model,
                decisions.time,
                decisions.reward,
                decisions.rewarded,
            )
            .join(tables.users, users.id == decisions.user_id)
            .join(tables.arms, arms.id == decisions.arm_id)
            .where(decisions.number > after)
            .order_by(decisions.number)
            .limit(limit)
        )
        with self.read() as connection:
            return [StoredLog._make(row) for row in connection.execute(query)]

    def waiting(self, after: int, limit: int) -> list[StoredWait]:
        """Return up to ``limit`` decisions numbered above ``after``, in order."""
        columns = tables.decisions.c
        query = (
            select(columns.number, columns.id, columns.time, columns.reward.is_not(None))
            .where(columns.number > after)
            .order_by(columns.number)
            .limit(limit)
        )
        with self.read() as connection:
            return [StoredWait._make(row) for row in connection.execute(query)]

    def recent_users(self, decisions: int) -> list[int]:
        """Return the numbers of the users of the last decisions, each once."""
        columns = tables.decisions.c
        query = select(columns.user_id).order_by(columns.number.desc()).limit(decisions)
        with self.read() as connection:
            return list(dict.fromkeys(connection.scalars(query)))

    def activity(self, since: int) -> list[tuple[int, str, int, int, float]]:
        """Return (minute, arm, decisions, rewards, total) from the minute ``since`` on."""
        sums, arms = tables.activity.c, tables.arms.c
        query = (
            select(
                sums.minute,
                arms.name,
                func.sum(sums.decisions),
                func.sum(sums.rewards),
                func.sum(sums.total),
            )
            .join(tables.arms, arms.id == sums.arm_id)
            .where(sums.minute >= since)
            .group_by(sums.minute, arms.name)
        )
        with self.read() as connection:
            return [
                (int(minute), arm, int(decided), int(rewarded), float(total))
                for minute, arm, decided, rewarded, total in connection.execute(query)
            ]

    def drop_activity(self, before: int) -> None:
        """Delete the sums of minutes before ``before``."""
        old = delete(tables.activity).where(tables.activity.c.minute < before)
        self._access.write(lambda connection, again: connection.execute(old).rowcount)

    def mark(self, key: str) -> int:
        """Return a number that was kept under ``key``, 0 if none."""
        with self.read() as connection:
            query = select(tables.meta.c.value).where(tables.meta.c.key == key)
            return connection.scalar(query) or 0

    def raise_mark(self, key: str, value: int) -> None:
        """Keep a number under ``key``, unless a larger one is there."""

        def work(connection: Connection, again: bool) -> None:
            here = tables.meta.c.key == key
            known = connection.scalar(select(tables.meta.c.value).where(here).with_for_update())
            if known is None:
                connection.execute(insert(tables.meta).values(key=key, value=value))
            elif known < value:
                connection.execute(update(tables.meta).where(here).values(value=value))

        self._access.write(work)


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


def _scan(connection: Connection, user_id: int | None) -> tuple[list[int], int]:
    """Return the user's decisions up to some number, and that number; (), 0 with an index.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be.
    """
    if connection.dialect.name != "sqlite" or user_id is None:
        return [], 0
    columns = tables.decisions.c
    last = connection.scalar(select(func.max(columns.number))) or 0
    query = select(columns.number).where(columns.user_id == user_id)
    return list(connection.scalars(query)), last
