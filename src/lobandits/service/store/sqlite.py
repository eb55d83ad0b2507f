"""The hot path on SQLite: ``IN`` lists and ``executemany``."""

from collections.abc import Sequence
from typing import Any

from lobandits.service.store.transaction import Statements, Transaction

MOST = 1024  # values in one list; lists are padded to powers of two, so few texts are compiled

_DECISION = (
    "SELECT id, number, user_id, arm_id, probability, model, reward, rewarded "
    "FROM decisions WHERE id IN ({})"
)


class SqliteTransaction(Transaction):
    """A transaction that begins with the lock of the one writer, so reads lock nothing."""

    statements = Statements(
        find_users="SELECT name, id FROM users WHERE name IN ({})",
        add_users="INSERT INTO users (name) VALUES (?) ON CONFLICT DO NOTHING",
        read_statistics=(
            "SELECT user_id, arm_id, plays, total FROM statistics WHERE user_id IN ({})"
        ),
        add_statistics=(
            "INSERT INTO statistics (user_id, arm_id, plays, total) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (user_id, arm_id) DO UPDATE "
            "SET plays = plays + excluded.plays, total = total + excluded.total"
        ),
        find_decisions=_DECISION,
        lock_decisions=_DECISION,
        add_decisions=(
            "INSERT INTO decisions (id, user_id, arm_id, probability, model, time) "
            "VALUES (?, ?, ?, ?, ?, ?)"
        ),
        set_rewards="UPDATE decisions SET reward = ?, rewarded = ? WHERE number = ?",
        add_activity=(
            "INSERT INTO activity (minute, arm_id, writer, decisions, rewards, total) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (minute, arm_id, writer) DO UPDATE "
            "SET decisions = decisions + excluded.decisions, rewards = rewards + excluded.rewards, "
            "total = total + excluded.total"
        ),
    )

    def fetch(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows whose key is one of ``values``."""
        rows: list[Any] = []
        for first in range(0, len(values), MOST):
            part = values[first : first + MOST]
            size = 1 << (len(part) - 1).bit_length()
            filled = [*part, *[part[-1]] * (size - len(part))]
            self.cursor.execute(statement.format(("?," * size)[:-1]), filled)
            rows += self.cursor.fetchall()
        return rows

    def change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""
        self.cursor.executemany(statement, rows)
