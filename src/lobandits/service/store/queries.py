"""What is read from a store for reports and housekeeping, and the erasure of a user."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, text

from lobandits.service.errors import UnknownUserError
from lobandits.service.store import Store
from lobandits.service.store.databases import StoredStatistics

PAGE = 2000
SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written


def user_statistics(store: Store, user: str) -> dict[int, tuple[int, float]]:
    """Return (plays, total) of a user by the arm's number, or raise `UnknownUserError`."""
    rows = store.rows(
        "SELECT arm_id, plays, total FROM users LEFT JOIN statistics ON user_id = id "
        "WHERE name = :name",
        name=user,
    )
    if not rows:
        raise UnknownUserError(f"no decision was made for the user {user!r:.80}")
    return {arm: (plays, total) for arm, plays, total in rows if arm is not None}


def recent_statistics(store: Store, decisions: int) -> tuple[list[int], StoredStatistics]:
    """Return the users of the last decisions, each once, and their statistics."""
    rows = store.rows(
        "SELECT user_id FROM decisions ORDER BY number DESC LIMIT :decisions", decisions=decisions
    )
    users = list(dict.fromkeys(user for (user,) in rows))
    with store.read() as connection:
        return users, store.transaction(connection).read_statistics(users)


def read_log(store: Store, after: int, limit: int) -> Sequence[Any]:
    """Return up to ``limit`` decisions numbered above ``after``, with the names, in order."""
    return store.rows(
        "SELECT decisions.*, users.name AS user_name, arms.name AS arm FROM decisions "
        "JOIN users ON users.id = user_id JOIN arms ON arms.id = arm_id "
        "WHERE number > :after ORDER BY number LIMIT :limit",
        after=after,
        limit=limit,
    )


def read_activity(store: Store, since: int) -> Sequence[Any]:
    """Return (minute, arm, decisions, rewards, total) from the minute ``since`` on."""
    return store.rows(
        "SELECT minute, name, sum(decisions), sum(rewards), sum(total) "
        "FROM activity JOIN arms ON id = arm_id WHERE minute >= :since GROUP BY minute, name",
        since=since,
    )


def drop_activity(store: Store, before: int) -> None:
    """Delete the sums of minutes before ``before``."""
    store.execute("DELETE FROM activity WHERE minute < :before", before=before)


def overdue(store: Store, late: int) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with, so that each one is
    looked at about once. It is moved after the consumer has dealt with a page, so a long search
    that is interrupted goes on there; any number of processes may do this at once.
    """
    query = (
        "SELECT number, id, time, reward FROM decisions "
        "WHERE number > :after ORDER BY number LIMIT :page"
    )
    found = store.rows("SELECT value FROM meta WHERE key = 'expired'")
    mark = after = found[0].value if found else 0
    settled = True
    while rows := store.rows(query, after=after, page=PAGE):
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
    """Delete a user with all decisions and statistics; return how many decisions."""
    sqlite = store.engine.dialect.name == "sqlite"
    who = "SELECT id FROM users WHERE name = :name"
    lock = who if sqlite else f"{who} FOR UPDATE"
    with store.read() as connection:
        number = connection.scalar(text(who), {"name": user})
        old, last = _scan(connection, number) if sqlite and number else ([], 0)

    def work(connection: Connection) -> int:
        if connection.scalar(text(lock), {"name": user}) != number:
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

    return 0 if number is None else store.write(work)


def _scan(connection: Connection, user: int) -> tuple[list[dict[str, int]], int]:
    """Return the numbers of the user's decisions up to some number, and that number.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be.
    """
    last = connection.scalar(text("SELECT max(number) FROM decisions")) or 0
    query = text("SELECT number FROM decisions WHERE user_id = :user")
    return [{"number": number} for number in connection.scalars(query, {"user": user})], last
