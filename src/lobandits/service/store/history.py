"""What happened: the log of decisions, those that wait for a reward, and sums by minute and arm."""

from collections.abc import Iterator, Sequence
from typing import Any

from lobandits.service.store.models import OF
from lobandits.service.store.store import Store
from lobandits.service.store.tables import microseconds
from lobandits.service.store.transaction import StoredStatistics

OF_MODELS = f"model IN (SELECT version FROM models WHERE {OF})"  # decisions of a problem


def logged_decisions(store: Store, problem: str, after: int, limit: int) -> Sequence[Any]:
    """Return up to ``limit`` decisions numbered above ``after``, with names, in order."""
    return store.rows(
        "SELECT decisions.*, users.name AS user_name, arms.name AS arm FROM decisions "
        "JOIN users ON users.id = user_id JOIN arms ON arms.id = arm_id "
        f"WHERE number > :after AND {OF} ORDER BY number LIMIT :limit",
        problem=problem,
        after=after,
        limit=limit,
    )


def reward_sums(store: Store, problem: str, since: int) -> Sequence[Any]:
    """Return (user, arm, rewards, sum, sum of squares) of decisions from a time on, by cell."""
    return store.rows(
        "SELECT users.name, arms.name, cell.n, cell.total, cell.squares FROM ("
        "SELECT user_id, arm_id, count(reward) AS n, sum(reward) AS total, "
        "sum(reward * reward) AS squares FROM decisions "
        f"WHERE reward IS NOT NULL AND time >= :since AND {OF_MODELS} "
        "GROUP BY user_id, arm_id) AS cell "
        "JOIN users ON users.id = cell.user_id JOIN arms ON arms.id = cell.arm_id",
        problem=problem,
        since=since,
    )


def unrewarded(store: Store, problem: str, since: int) -> int:
    """Return how many decisions from a time on have no reward."""
    query = (
        f"SELECT count(*) FROM decisions WHERE reward IS NULL AND time >= :since AND {OF_MODELS}"
    )
    ((number,),) = store.rows(query, problem=problem, since=since)
    return int(number)


def recent_statistics(
    store: Store, problem: str, decisions: int, fading: bool
) -> tuple[list[int], StoredStatistics]:
    """Return the users of the last decisions, each once, and their statistics."""
    query = f"SELECT user_id FROM decisions WHERE {OF_MODELS} ORDER BY number DESC LIMIT :decisions"
    rows = store.rows(query, problem=problem, decisions=decisions)
    users = list(dict.fromkeys(user for (user,) in rows))
    with store.read() as connection:
        return users, store.transaction(connection).read_statistics(users, fading)


def oldest_unrewarded(store: Store, problem: str, after: int) -> tuple[int, int] | None:
    """Return number and time of the first decision from ``after`` on without a reward."""
    query = (
        "SELECT number, time FROM decisions "
        f"WHERE number >= :after AND reward IS NULL AND {OF_MODELS} ORDER BY number LIMIT 1"
    )
    rows = store.rows(query, problem=problem, after=after)
    return (rows[0].number, rows[0].time) if rows else None


def prune(store: Store, before: int, step: int = 1_000) -> int:
    """Delete the decisions made before a time, the oldest first; return how many.

    Each step is a short transaction, so that writers hardly wait. It ends at the first ``step``
    decisions that are all newer.
    """
    page = "SELECT number, time FROM decisions WHERE number > :after ORDER BY number LIMIT :step"
    gone = after = 0
    while rows := store.rows(page, after=after, step=step):
        old = [row.number for row in rows if row.time < before]
        if not old:
            break
        store.execute(
            "DELETE FROM decisions WHERE number BETWEEN :first AND :last AND time < :before",
            first=old[0],
            last=old[-1],
            before=before,
        )
        gone, after = gone + len(old), rows[-1].number
    return gone


SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written
MARKS = "'expired', 'skipped', 'skipped_time'"


def overdue(store: Store, late: int, now: int | None = None) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with. It is moved after
    the consumer has dealt with a page, so a long search that is interrupted goes on there; any
    number of processes may do this at once. A decision from the future, of a clock that was
    wrong, is passed over, and looked for again once its time has come.
    """
    query = (
        "SELECT number, id, time, reward FROM decisions "
        "WHERE number > :after ORDER BY number LIMIT :page"
    )
    future = max(late, (microseconds() if now is None else now) + SETTLED)
    marks = _marks(store)
    if marks["skipped_time"] < late:
        marks["expired"] = min(marks["expired"], marks["skipped"] - 1)
        store.execute(f"DELETE FROM meta WHERE key IN ({MARKS})")
        _mark(store, "expired", marks["expired"], ">")
    mark = after = marks["expired"]
    settled = True
    while rows := store.rows(query, after=after, page=2000):
        if ids := [row.id for row in rows if row.time < late and row.reward is None]:
            yield ids
        for row in rows:
            settled = settled and (row.time < late - SETTLED or row.time > future)
            mark = row.number if settled else mark
        if skipped := [row for row in rows if row.time > future and row.reward is None]:
            _mark(store, "skipped", skipped[0].number, "<")
            _mark(store, "skipped_time", min(row.time for row in skipped), "<")
        _mark(store, "expired", mark, ">")
        if any(late <= row.time <= future for row in rows):
            break
        after = rows[-1].number


def _marks(store: Store) -> dict[str, int]:
    """Return how far expiry has come, and what it has passed over."""
    found = store.rows(f"SELECT key, value FROM meta WHERE key IN ({MARKS})")
    return {"expired": 0, "skipped": 0, "skipped_time": 2**62} | dict(found)


def _mark(store: Store, key: str, value: int, better: str) -> None:
    """Note a number, unless a better one is there."""
    store.execute(
        "INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) "
        f"DO UPDATE SET value = excluded.value WHERE excluded.value {better} meta.value",
        key=key,
        value=value,
    )
