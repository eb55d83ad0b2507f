"""What is read from a store for reports and housekeeping, and the erasure of a user."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, and_, delete, func, select, text

from lobandits.service.errors import UnknownUserError
from lobandits.service.store import tables
from lobandits.service.store.databases import StoredStatistics
from lobandits.service.store.store import Store

PAGE = 2000
SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written
EXPIRED = "expired"
RAISE_MARK = text(
    "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) "
    "DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value"
)


def user_statistics(store: Store, user: str) -> dict[int, tuple[int, float]]:
    """Return (plays, total) of a user by the arm's number, or raise `UnknownUserError`."""
    users, cells = tables.users.c, tables.statistics.c
    query = (
        select(cells.arm_id, cells.plays, cells.total)
        .select_from(tables.users.outerjoin(tables.statistics, users.id == cells.user_id))
        .where(users.name == user)
    )
    rows = store.rows(query)
    if not rows:
        raise UnknownUserError(f"no decision was made for the user {user!r:.80}")
    return {arm: (plays, total) for arm, plays, total in rows if arm is not None}


def recent_statistics(store: Store, decisions: int) -> tuple[list[int], StoredStatistics]:
    """Return the users of the last decisions, each once, and their statistics."""
    columns = tables.decisions.c
    query = select(columns.user_id).order_by(columns.number.desc()).limit(decisions)
    with store.read() as connection:
        users = list(dict.fromkeys(connection.scalars(query)))
        return users, store.transaction(connection).read_statistics(users)


def read_log(store: Store, after: int, limit: int) -> Sequence[Any]:
    """Return up to ``limit`` decisions numbered above ``after``, with the names, in order."""
    decisions, users, arms = tables.decisions.c, tables.users.c, tables.arms.c
    query = (
        select(tables.decisions, users.name.label("user"), arms.name.label("arm"))
        .join(tables.users, users.id == decisions.user_id)
        .join(tables.arms, arms.id == decisions.arm_id)
        .where(decisions.number > after)
        .order_by(decisions.number)
        .limit(limit)
    )
    return store.rows(query)


def read_activity(store: Store, since: int) -> Sequence[Any]:
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
    return store.rows(query)


def drop_activity(store: Store, before: int) -> None:
    """Delete the sums of minutes before ``before``."""
    old = delete(tables.activity).where(tables.activity.c.minute < before)
    store.write(lambda connection: connection.execute(old))


def overdue(store: Store, late: int) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with, so that each one is
    looked at about once. It is moved after the consumer has dealt with a page, so a long search
    that is interrupted goes on there; any number of processes may do this at once.
    """
    columns = tables.decisions.c
    query = select(columns.number, columns.id, columns.time, columns.reward)
    query = query.order_by(columns.number).limit(PAGE)
    mark = after = store.value(select(tables.meta.c.value).where(tables.meta.c.key == EXPIRED)) or 0
    settled = True
    while rows := store.rows(query.where(columns.number > after)):
        old = [row for row in rows if row.time < late]
        ids = [row.id for row in old if row.reward is None]
        if ids:
            yield ids
        known = mark
        for row in rows:
            settled = settled and row.time < late - SETTLED
            mark = row.number if settled else mark
        if mark > known:
            _raise_mark(store, mark)
        if len(old) < len(rows):
            break
        after = rows[-1].number


def _raise_mark(store: Store, mark: int) -> None:
    """Move the mark, unless another process has moved it further."""
    row = {"key": EXPIRED, "value": mark}
    store.write(lambda connection: connection.execute(RAISE_MARK, row))


def forget(store: Store, user: str) -> int:
    """Delete a user with all decisions and statistics; return how many decisions."""
    users, statistics, decisions = tables.users.c, tables.statistics.c, tables.decisions.c
    who = select(users.id).where(users.name == user)
    with store.read() as connection:
        number = connection.scalar(who)
        old, last = _scan(connection, number)

    def work(connection: Connection) -> int:
        if connection.scalar(who.with_for_update()) != number:
            return 0  # another call has forgotten the user meanwhile
        # Decisions first: a reward under way has locked its decision, so statistics that it
        # adds are there before they are deleted.
        new = and_(decisions.number > last, decisions.user_id == number)
        gone = connection.execute(delete(tables.decisions).where(new)).rowcount
        if old:
            one = "DELETE FROM decisions WHERE number = ?"
            connection.exec_driver_sql(one, [(key,) for key in old])
        connection.execute(delete(tables.statistics).where(statistics.user_id == number))
        connection.execute(delete(tables.users).where(users.id == number))
        return gone + len(old)

    return 0 if number is None else store.write(work)


def _scan(connection: Connection, user_id: int | None) -> tuple[list[int], int]:
    """Return the user's decisions up to some number, and that number; none where an index exists.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be.
    """
    if connection.dialect.name != "sqlite" or user_id is None:
        return [], 0
    columns = tables.decisions.c
    last = connection.scalar(select(func.max(columns.number))) or 0
    query = select(columns.number).where(columns.user_id == user_id)
    return list(connection.scalars(query)), last
