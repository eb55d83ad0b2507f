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


def reward_sums(store: Store, since: int) -> Sequence[Any]:
    """Return (user, arm, rewards, sum, sum of squares) of decisions from a time on, by cell."""
    return store.rows(
        "SELECT users.name, arms.name, cell.n, cell.total, cell.squares FROM ("
        "SELECT user_id, arm_id, count(reward) AS n, sum(reward) AS total, "
        "sum(reward * reward) AS squares FROM decisions "
        "WHERE reward IS NOT NULL AND time >= :since GROUP BY user_id, arm_id) AS cell "
        "JOIN users ON users.id = cell.user_id JOIN arms ON arms.id = cell.arm_id",
        since=since,
    )


def unrewarded(store: Store, since: int) -> int:
    """Return how many decisions from a time on have no reward."""
    query = "SELECT count(*) FROM decisions WHERE reward IS NULL AND time >= :since"
    ((number,),) = store.rows(query, since=since)
    return int(number)


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
