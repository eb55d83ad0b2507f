"""The hot path on PostgreSQL: arrays as parameters, in binary, and rows locked in one order."""

from collections.abc import Sequence
from typing import Any

from lobandits.service.store.transaction import Statements, Transaction

_DECISION = (
    "SELECT id, number, user_id, arm_id, probability, model, reward, rewarded "
    "FROM decisions WHERE id = ANY(%b::bytea[])"
)


class PostgresTransaction(Transaction):
    """A transaction that locks the users it decides for, and the decisions it rewards."""

    statements = Statements(
        find_users="SELECT name, id FROM users WHERE name = ANY(%b::text[]) FOR KEY SHARE",
        add_users=(
            "INSERT INTO users (name) SELECT * FROM unnest(%b::text[]) ON CONFLICT DO NOTHING"
        ),
        read_statistics=(
            "SELECT user_id, arm_id, plays, total FROM statistics WHERE user_id = ANY(%b::bigint[])"
        ),
        add_statistics=(
            "INSERT INTO statistics (user_id, arm_id, plays, total) "
            "SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::float8[]) "
            "ON CONFLICT (user_id, arm_id) DO UPDATE SET "
            "plays = statistics.plays + excluded.plays, total = statistics.total + excluded.total"
        ),
        find_decisions=_DECISION,
        lock_decisions=f"{_DECISION} ORDER BY id FOR UPDATE",
        add_decisions=(
            "INSERT INTO decisions (id, user_id, arm_id, probability, model, time) "
            "SELECT * FROM unnest(%b::bytea[], %b::bigint[], %b::bigint[], %b::float8[], "
            "%b::bigint[], %b::bigint[])"
        ),
        set_rewards=(
            "UPDATE decisions SET reward = new.reward, rewarded = new.rewarded "
            "FROM unnest(%b::float8[], %b::bigint[], %b::bigint[]) "
            "AS new (reward, rewarded, number) WHERE decisions.number = new.number"
        ),
        add_activity=(
            "INSERT INTO activity (minute, arm_id, writer, decisions, rewards, total) "
            "SELECT * FROM unnest(%b::bigint[], %b::bigint[], %b::bigint[], %b::bigint[], "
            "%b::bigint[], %b::float8[]) ON CONFLICT (minute, arm_id, writer) DO UPDATE SET "
            "decisions = activity.decisions + excluded.decisions, "
            "rewards = activity.rewards + excluded.rewards, "
            "total = activity.total + excluded.total"
        ),
    )

    def fetch(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows whose key is one of ``values``."""
        self.cursor.execute(statement, (list(values),), binary=True)
        rows: list[Any] = self.cursor.fetchall()
        return rows

    def change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""
        if rows:
            self.cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])
