"""What is read from a store for reports, exports and housekeeping."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from lobandits.service.store import tables
from lobandits.service.store.store import Store
from lobandits.service.store.transaction import StoredStatistics


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


def user_statistics(store: Store, user: str) -> dict[int, tuple[int, float]] | None:
    """Return (plays, total) of a user by the arm's number; None if there is no such user."""
    statistics, users = tables.statistics.c, tables.users.c
    with store.read() as connection:
        number = connection.scalar(select(users.id).where(users.name == user))
        if number is None:
            return None
        rows = connection.execute(
            select(statistics.arm_id, statistics.plays, statistics.total).where(
                statistics.user_id == number
            )
        )
        return {arm: (plays, total) for arm, plays, total in rows}


def read_statistics(store: Store, user_ids: Sequence[int]) -> StoredStatistics:
    """Return the statistics of users, given by their numbers."""
    with store.read() as connection:
        return store.transaction(connection).read_statistics(user_ids)


def read_log(store: Store, after: int, limit: int) -> list[StoredLog]:
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
    with store.read() as connection:
        return [StoredLog._make(row) for row in connection.execute(query)]


def read_waiting(store: Store, after: int, limit: int) -> list[StoredWait]:
    """Return up to ``limit`` decisions numbered above ``after``, in order."""
    columns = tables.decisions.c
    query = (
        select(columns.number, columns.id, columns.time, columns.reward.is_not(None))
        .where(columns.number > after)
        .order_by(columns.number)
        .limit(limit)
    )
    with store.read() as connection:
        return [StoredWait._make(row) for row in connection.execute(query)]


def recent_users(store: Store, decisions: int) -> list[int]:
    """Return the numbers of the users of the last decisions, each once."""
    columns = tables.decisions.c
    query = select(columns.user_id).order_by(columns.number.desc()).limit(decisions)
    with store.read() as connection:
        return list(dict.fromkeys(connection.scalars(query)))


def read_activity(store: Store, since: int) -> list[tuple[int, str, int, int, float]]:
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
    with store.read() as connection:
        return [
            (int(minute), arm, int(decided), int(rewarded), float(total))
            for minute, arm, decided, rewarded, total in connection.execute(query)
        ]


def drop_activity(store: Store, before: int) -> None:
    """Delete the sums of minutes before ``before``."""
    old = delete(tables.activity).where(tables.activity.c.minute < before)
    store.write(lambda connection, again: connection.execute(old).rowcount)


def read_mark(store: Store, key: str) -> int:
    """Return a number that was kept under ``key``, 0 if none."""
    with store.read() as connection:
        query = select(tables.meta.c.value).where(tables.meta.c.key == key)
        return connection.scalar(query) or 0


def raise_mark(store: Store, key: str, value: int) -> None:
    """Keep a number under ``key``, unless a larger one is there."""

    def work(connection: Connection, again: bool) -> None:
        here = tables.meta.c.key == key
        known = connection.scalar(select(tables.meta.c.value).where(here).with_for_update())
        if known is None:
            connection.execute(insert(tables.meta).values(key=key, value=value))
        elif known < value:
            connection.execute(update(tables.meta).where(here).values(value=value))

    store.write(work)
