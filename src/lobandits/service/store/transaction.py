"""One writing transaction: what decisions and rewards read and write, many rows at a time.

The statements here are the hot path, so they go to the driver as text, with parameters only.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection

from lobandits._checks import FloatArray, IntArray


class Statements(NamedTuple):
    """The statements of one kind of database."""

    find_users: str
    add_users: str
    read_statistics: str
    add_statistics: str
    find_decisions: str
    lock_decisions: str
    add_decisions: str
    set_rewards: str
    add_activity: str


class StoredDecision(NamedTuple):
    """A row of the table of decisions."""

    id: bytes
    number: int
    user_id: int
    arm_id: int
    probability: float
    model: int
    reward: float | None
    rewarded: int | None


class StoredStatistics(NamedTuple):
    """Rows of the table of statistics, as columns."""

    users: IntArray
    arms: IntArray
    plays: IntArray
    totals: FloatArray


class Transaction(ABC):
    """A writing transaction on ``connection``; each method is a few statements."""

    statements: Statements

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.cursor: Any = connection.connection.cursor()

    @abstractmethod
    def fetch(self, statement: str, values: Sequence[Any]) -> list[Any]:
        """Return the rows whose key is one of ``values``."""

    @abstractmethod
    def change(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""

    def find_users(self, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of the users that exist; they stay until the end."""
        return dict(self.fetch(self.statements.find_users, names))

    def add_users(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of users, after adding those that do not exist."""
        ordered = sorted(names)  # in one order everywhere, so that no two wait for each other
        found: dict[str, int] = {}
        while len(found) < len(ordered):  # again if one was forgotten in between
            self.change(self.statements.add_users, [(name,) for name in ordered])
            found = self.find_users(ordered)
        return found

    def read_statistics(self, user_ids: Sequence[int]) -> StoredStatistics:
        """Return the statistics of users."""
        rows = self.fetch(self.statements.read_statistics, user_ids)
        columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
        users, arms, plays = (np.array(column, np.int64) for column in columns[:3])
        return StoredStatistics(users, arms, plays, np.array(columns[3], np.float64))

    def add_statistics(self, rows: Iterable[tuple[int, int, int, float]]) -> None:
        """Add (user, arm, plays, total) to what is there; every user and arm comes once."""
        self.change(self.statements.add_statistics, sorted(rows))

    def find_decisions(
        self, ids: Sequence[bytes], lock: bool = False
    ) -> dict[bytes, StoredDecision]:
        """Return the decisions that exist, by id; with ``lock``, others wait to change them."""
        texts = self.statements
        rows = self.fetch(texts.lock_decisions if lock else texts.find_decisions, ids)
        return {row[0]: StoredDecision._make(row) for row in rows}

    def add_decisions(self, rows: Sequence[tuple[bytes, int, int, float, int, int]]) -> None:
        """Write (id, user, arm, probability, model, time)."""
        self.change(self.statements.add_decisions, rows)

    def set_rewards(self, rows: Sequence[tuple[float, int | None, int]]) -> None:
        """Write (reward, when it was reported, number of the decision)."""
        self.change(self.statements.set_rewards, rows)

    def add_activity(self, rows: Iterable[tuple[int, int, int, int, int, float]]) -> None:
        """Add (minute, arm, writer, decisions, rewards, total) to what is there."""
        self.change(self.statements.add_activity, sorted(rows))
