"""The steps that bring an older store up to date."""

from collections.abc import Callable

from sqlalchemy import Connection, insert, inspect, select, text, update

from lobandits.errors import LobInputError
from lobandits.service.store.tables import (
    activity,
    arms,
    decisions,
    meta,
    metadata,
    models,
    statistics,
    users,
    withdrawn,
)


def _create_decisions(connection: Connection) -> None:
    metadata.create_all(connection, [users, arms, models, statistics, decisions])


def _create_activity(connection: Connection) -> None:
    """Version 2: sums per minute and arm, from the decisions that are there."""
    activity.create(connection)
    connection.execute(
        text(
            "INSERT INTO activity (minute, arm_id, writer, decisions, rewards, total) "
            "SELECT minute, arm_id, 0, sum(decisions), sum(rewards), sum(total) FROM ("
            "SELECT time / 60000000 AS minute, arm_id, 1 AS decisions, 0 AS rewards, 0.0 AS total "
            "FROM decisions UNION ALL "
            "SELECT rewarded / 60000000, arm_id, 0, 1, reward "
            "FROM decisions WHERE rewarded IS NOT NULL"
            ") AS parts GROUP BY minute, arm_id"
        )
    )


def _create_withdrawn(connection: Connection) -> None:
    """Version 3: models that were taken back."""
    withdrawn.create(connection)


STEPS: tuple[Callable[[Connection], None], ...] = (
    _create_decisions,
    _create_activity,
    _create_withdrawn,
)
"""Step i brings a store from version i to i + 1; an empty store has version 0."""


def migrate(connection: Connection) -> None:
    """Bring the store up to date in the caller's transaction; refuse one of a newer lobandits."""
    if connection.dialect.name == "postgresql":  # one process at a time, however long it takes
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(6071923)"))
    if not inspect(connection).has_table("meta"):
        meta.create(connection)
        connection.execute(insert(meta).values(key="version", value=0))
    here = meta.c.key == "version"
    version = connection.scalar(select(meta.c.value).where(here)) or 0
    if version > len(STEPS):
        raise LobInputError(
            f"the store has version {version}, but this lobandits knows versions up to "
            f"{len(STEPS)}; upgrade lobandits"
        )
    for step in STEPS[version:]:
        step(connection)
    if version < len(STEPS):
        connection.execute(update(meta).where(here).values(value=len(STEPS)))
