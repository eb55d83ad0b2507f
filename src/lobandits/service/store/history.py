"""What happened: the log of decisions, and sums by minute and arm."""

from collections.abc import Sequence
from typing import Any

from lobandits.service.clock import MINUTE
from lobandits.service.store.store import Store
from lobandits.service.store.transaction import StoredStatistics

KEPT_MINUTES = 30 * 24 * 60


def logged_decisions(store: Store, after: int, limit: int) -> Sequence[Any]:
    """Return up to ``limit`` decisions numbered above ``after``, with names, in order."""
    return store.rows(
        "SELECT decisions.*, users.name AS user_name, arms.name AS arm FROM decisions "
        "JOIN users ON users.id = user_id JOIN arms ON arms.id = arm_id "
        "WHERE number > :after ORDER BY number LIMIT :limit",
        after=after,
        limit=limit,
    )


def recent_statistics(store: Store, decisions: int) -> tuple[list[int], StoredStatistics]:
    """Return the users of the last decisions, each once, and their statistics."""
    query = "SELECT user_id FROM decisions ORDER BY number DESC LIMIT :decisions"
    rows = store.rows(query, decisions=decisions)
    users = list(dict.fromkeys(user for (user,) in rows))
    with store.read() as connection:
        return users, store.transaction(connection).read_statistics(users)


def minute_sums(store: Store, since: int) -> Sequence[Any]:
    """Return (minute, arm, decisions, rewards, total) from the minute ``since`` on."""
    return store.rows(
        "SELECT minute, name, sum(decisions), sum(rewards), sum(total) "
        "FROM activity JOIN arms ON id = arm_id WHERE minute >= :since GROUP BY minute, name",
        since=since,
    )


def drop_old_minutes(store: Store, now: int) -> None:
    """Delete the sums of minutes that are no longer kept."""
    oldest = now // MINUTE - KEPT_MINUTES
    store.execute("DELETE FROM activity WHERE minute < :oldest", oldest=oldest)
