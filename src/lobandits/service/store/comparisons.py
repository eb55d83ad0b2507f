"""Comparisons of a control group: their keys, their users, and sums by group."""

import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, text

from lobandits.service.store.models import OF
from lobandits.service.store.store import Store
from lobandits.service.store.tables import microseconds

EVER = 0  # the minute under which sums over all time are kept


class StoredComparison(NamedTuple):
    """A comparison of a problem: its control group's policy as JSON, and who is in it."""

    id: int
    policy: str
    share: float
    rewards: int  # after which a user counts
    key: bytes
    time: int


COLUMNS = ", ".join(StoredComparison._fields)


def read_comparison(store: Store, number: int) -> StoredComparison:
    """Return a comparison by its number; it never changes."""
    (row,) = store.rows(f"SELECT {COLUMNS} FROM comparisons WHERE id = :id", id=number)
    return StoredComparison._make(row)


def newest_comparison(store: Store, problem: str) -> StoredComparison | None:
    """Return the newest comparison of a problem."""
    query = f"SELECT {COLUMNS} FROM comparisons WHERE {OF} ORDER BY id DESC LIMIT 1"
    rows = store.rows(query, problem=problem)
    return StoredComparison._make(rows[0]) if rows else None


def put_comparison(store: Store, problem: str, policy: str, share: float, rewards: int) -> None:
    """Begin a comparison with a fresh key, unless the newest of the problem is the same."""
    newest = newest_comparison(store, problem)
    if newest and (newest.policy, newest.share, newest.rewards) == (policy, share, rewards):
        return
    statement = text(
        "INSERT INTO comparisons (id, problem_id, policy, share, rewards, key, time) "
        "SELECT (SELECT coalesce(max(id), 0) + 1 FROM comparisons), id, :policy, :share, :rewards, "
        ":key, :time FROM problems WHERE name = :problem"
    )
    values = {"policy": policy, "share": share, "rewards": rewards, "problem": problem}
    fresh = {"key": secrets.token_bytes(16), "time": microseconds()}

    def work(connection: Connection) -> None:
        connection.execute(statement, values | fresh)

    store.write(work)


def group_totals(store: Store, problem: str) -> Sequence[Any]:
    """Return (comparison, group, decisions, rewards, total) over all time."""
    return store.rows(
        "SELECT comparison_id, control_group, sum(decisions), sum(rewards), sum(total) "
        "FROM group_activity JOIN models ON model = version "
        f"WHERE minute = {EVER} AND {OF} GROUP BY comparison_id, control_group",
        problem=problem,
    )


def group_minutes(store: Store, problem: str, since: int, step: int = 1) -> Sequence[Any]:
    """Return (part, group, model, decisions, rewards, total): parts have ``step`` minutes."""
    return store.rows(
        "SELECT (minute - :since) / :step, control_group, model, "
        "sum(decisions), sum(rewards), sum(total) "
        "FROM group_activity JOIN models ON model = version "
        f"WHERE minute > {EVER} AND minute >= :since AND {OF} "
        "GROUP BY 1, 2, 3",
        problem=problem,
        since=since,
        step=step,
    )


def advice_pairs(store: Store, problem: str) -> Sequence[Any]:
    """Return (arm shown, arm advised, decisions, rewards, total), by their numbers."""
    return store.rows(
        "SELECT shown, advised, sum(decisions), sum(rewards), sum(total) "
        f"FROM advice JOIN arms ON id = shown WHERE {OF} GROUP BY shown, advised",
        problem=problem,
    )


class UserCounts(NamedTuple):
    """What is known of the users of a comparison before their sums are asked for."""

    first: int | None  # when a user was counted first
    last: int | None
    centre: float


def counted_span(store: Store, comparison: int) -> UserCounts:
    """Return when users were counted, and their mean."""
    query = (
        "SELECT min(counted), max(counted), coalesce(avg(mean), 0.0) FROM trials "
        "WHERE comparison_id = :comparison AND counted IS NOT NULL"
    )
    (row,) = store.rows(query, comparison=comparison)
    return UserCounts(row[0], row[1], float(row[2]))


def counted_users(
    store: Store, comparison: int, first: int, step: int, centre: float
) -> Sequence[Any]:
    """Return (step of time, control, users, sum, squares, least, most) of users counted in it."""
    return store.rows(
        "SELECT (counted - :first) / :step, control, count(*), sum(mean), "
        "sum((mean - :centre) * (mean - :centre)), min(mean), max(mean) FROM trials "
        "WHERE comparison_id = :comparison AND counted IS NOT NULL "
        "GROUP BY 1, 2",
        comparison=comparison,
        first=first,
        step=step,
        centre=centre,
    )


def rewarded_users(store: Store, comparison: int) -> dict[int, int]:
    """Return how many users with rewards the model (0) and the control group (1) have."""
    query = (
        "SELECT control, count(*) FROM trials WHERE comparison_id = :comparison GROUP BY control"
    )
    return dict(store.rows(query, comparison=comparison))
