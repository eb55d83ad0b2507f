"""What a store knows of a user, and how it forgets it: in all problems at once."""

import json
from array import array
from typing import Any

from sqlalchemy import Connection, text

from lobandits.service.errors import StoreUnavailableError, UnknownUserError
from lobandits.service.store.models import OF
from lobandits.service.store.store import Store
from lobandits.service.store.transaction import FADED, StoredStatistics, as_columns

STEP = 10_000  # decisions that are deleted at once
LONGEST_WAIT = 5.0  # seconds for others to be forgotten first
LOCK_DECISIONS = (
    "SELECT count(*) FROM "
    "(SELECT 1 FROM decisions WHERE user_id = :user ORDER BY id FOR UPDATE) AS mine"
)


def user_statistics(store: Store, problem: str, user: str) -> StoredStatistics:
    """Return what a user got from the problem's arms; the number of the user is 0."""
    rows = store.rows(
        f"SELECT 0, arm_id, plays, total, {FADED} "
        "FROM users LEFT JOIN statistics ON user_id = users.id "
        f"AND arm_id IN (SELECT id FROM arms WHERE {OF}) WHERE name = :name",
        problem=problem,
        name=user,
    )
    if not rows:
        raise UnknownUserError(f"no decision was made for the user {user!r:.80}")
    return as_columns([row for row in rows if row.arm_id is not None])


def user_features(store: Store, user: str) -> dict[str, Any]:
    """Return what is known of a user besides rewards, by name."""
    rows = store.rows(
        "SELECT content FROM features JOIN users ON users.id = user_id WHERE name = :name",
        name=user,
    )
    known: dict[str, Any] = json.loads(rows[0][0]) if rows else {}
    return known


def forget(store: Store, user: str) -> int:
    """Delete a user with all decisions and statistics; return how many decisions.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be. One user is forgotten
    at a time, so that many requests need no more memory than one.
    """
    if not store.forgetting.acquire(timeout=LONGEST_WAIT):
        raise StoreUnavailableError("too many users are being forgotten at once; try again later")
    try:
        return _forget(store, user)
    finally:
        store.forgetting.release()


def _forget(store: Store, user: str) -> int:
    name = {"name": user}
    who = "SELECT id FROM users WHERE name = :name"
    lock = text(who if store.is_sqlite else f"{who} FOR UPDATE")
    old, last = array("q"), 0
    with store.read() as connection:
        number = connection.scalar(text(who), name)
        if number is None:
            return 0
        if store.is_sqlite:
            last = connection.scalar(text("SELECT max(number) FROM decisions")) or 0
            old = _decisions_of(connection, number)

    def work(connection: Connection) -> int:
        if connection.scalar(lock, name) != number:
            return 0  # another call has forgotten the user meanwhile
        values = {"user": number, "last": last}
        if not store.is_sqlite:  # in the order in which rewards lock them
            connection.execute(text(LOCK_DECISIONS), values)
        # Decisions first: a reward under way has locked its decision, so statistics that it
        # adds are there before they are deleted.
        new = "DELETE FROM decisions WHERE user_id = :user AND number > :last"
        gone = connection.execute(text(new), values).rowcount
        for first in range(0, len(old), STEP):
            rows = [{"number": n} for n in old[first : first + STEP]]
            connection.execute(text("DELETE FROM decisions WHERE number = :number"), rows)
        for table in ("past_rewards", "statistics", "trials", "features"):
            connection.execute(text(f"DELETE FROM {table} WHERE user_id = :user"), values)
        connection.execute(text("DELETE FROM users WHERE id = :user"), values)
        return gone + len(old)

    return store.write(work)


def _decisions_of(connection: Connection, user: int) -> "array[int]":
    """Return the numbers of a user's decisions, 8 bytes each."""
    query = text("SELECT number FROM decisions WHERE user_id = :user")
    found = array("q")
    for part in (
        connection.execution_options(yield_per=STEP).scalars(query, {"user": user}).partitions()
    ):
        found.extend(part)
    return found
