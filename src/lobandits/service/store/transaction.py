"""The one writing transaction: its statements, and two ways to run them.

They are the hot path, so they go to the driver as text, with parameters only. Each database has
its own words for ``{keys}`` (one of many values) and ``{rows}`` (many rows).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sqlalchemy import BigInteger, Connection, Double, Table, Text

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.service.errors import StoreUnavailableError

TYPES = {BigInteger: "bigint", Text: "text", Double: "float8"}  # of columns, as PostgreSQL has them
WRITE = "lobandits_write"  # execution option of connections that will write


class StoredDecision(NamedTuple):
    """A row of the table of decisions."""

    id: bytes
    number: int
    user_id: int
    arm_id: int
    probability: float
    model: int
    time: int
    reward: float | None
    rewarded: int | None
    control_group: str | None
    comparison_id: int | None
    advised: int | None


class NewDecision(NamedTuple):
    """What is written of a decision before its reward."""

    id: bytes
    user_id: int
    arm_id: int
    probability: float
    model: int
    time: int
    control_group: str | None
    comparison_id: int | None
    advised: int | None


class StoredReward(NamedTuple):
    """A row of the table of past rewards."""

    id: bytes
    user_id: int
    arm_id: int
    reward: float
    time: int


class StoredStatistics(NamedTuple):
    """Rows of the table of statistics, as columns; what has faded only where it was asked for."""

    users: IntArray
    arms: IntArray
    plays: IntArray
    totals: FloatArray
    half_lives: IntArray = np.empty(0, np.int64)
    epochs: IntArray = np.empty(0, np.int64)
    weights: FloatArray = np.empty(0)
    weighted: FloatArray = np.empty(0)
    squares: FloatArray = np.empty(0)


PLAIN = "user_id, arm_id, plays, total"
FADED = "half_life, epoch, weight, weighted, squares"
KINDS: tuple[Any, ...] = (np.int64,) * 3 + (np.float64,) + (np.int64,) * 2 + (np.float64,) * 3


def as_columns(rows: Sequence[Any]) -> StoredStatistics:
    """Return rows of PLAIN, and perhaps FADED, as columns."""
    columns = list(zip(*rows, strict=True)) or [()] * len(KINDS)
    kinds = zip(columns, KINDS, strict=False)
    return StoredStatistics(*(np.fromiter(*given, len(rows)) for given in kinds))


SAME = "statistics.half_life = excluded.half_life"
AHEAD = "excluded.epoch - statistics.epoch"  # by how many landmarks what is new lies ahead
SHIFT = "1 / CAST(4294967296 AS DOUBLE PRECISION) / CAST(4294967296 AS DOUBLE PRECISION)"
STEPS = f"CASE WHEN {{side}} <= 0 THEN 1 WHEN {{side}} = 1 THEN {SHIFT} ELSE 0 END"
OLD = f"(CASE WHEN {SAME} THEN {STEPS.format(side=AHEAD)} ELSE 0 END)"
NEW = f"(CASE WHEN {SAME} THEN {STEPS.format(side=f'-({AHEAD})')} ELSE 1 END)"
# What is that small is nothing: PostgreSQL refuses a product that is too small for a number.
SOUND = "(CASE WHEN abs({0}) > 1e-200 THEN {0} ELSE 0 END)"


def _sum(name: str) -> str:
    return f"{name} = statistics.{name} + excluded.{name}"


def _moved_sum(name: str, old: str = OLD, new: str = NEW) -> str:
    """Return the sum of what is stored and what is new, each moved to the later landmark."""
    here, there = SOUND.format(f"statistics.{name}"), SOUND.format(f"excluded.{name}")
    return f"{name} = {old} * {here} + {new} * {there}"


ADD_PLAIN = (
    f"INSERT INTO statistics ({PLAIN}) {{rows}} "
    f"ON CONFLICT (user_id, arm_id) DO UPDATE SET {_sum('plays')}, {_sum('total')}"
)
ADD_FADING = (
    f"INSERT INTO statistics ({PLAIN}, {FADED}) {{rows}} "
    f"ON CONFLICT (user_id, arm_id) DO UPDATE SET {_sum('plays')}, {_sum('total')}, "
    f"{_moved_sum('weight')}, {_moved_sum('weighted')}, "
    f"{_moved_sum('squares', f'{OLD} * {OLD}', f'{NEW} * {NEW}')}, half_life = excluded.half_life, "
    f"epoch = CASE WHEN {SAME} AND {AHEAD} < 0 THEN statistics.epoch ELSE excluded.epoch END"
)


FIND_DECISIONS = f"SELECT {', '.join(StoredDecision._fields)} FROM decisions WHERE id {{keys}}"
ADD_DECISIONS = f"INSERT INTO decisions ({', '.join(NewDecision._fields)}) {{rows}}"


class Transaction(ABC):
    """A writing transaction on ``connection``; each method is a statement or two."""

    set_rewards_text: ClassVar[str]

    def __init__(self, connection: Connection) -> None:
        self.cursor: Any = connection.connection.cursor()

    @abstractmethod
    def fetch(self, query: str, kind: str, values: Sequence[Any], lock: str = "") -> list[Any]:
        """Return the rows whose key, of PostgreSQL's type ``kind``, is one of ``values``."""

    @abstractmethod
    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> int:
        """Execute the statement for all rows, whose columns have PostgreSQL's types ``kinds``.

        Return how many rows it inserted or updated.
        """

    def find_users(self, names: Sequence[str]) -> dict[str, int]:
        """Return the numbers of the users that exist; they stay until the end."""
        query = "SELECT name, id FROM users WHERE name {keys}"
        return dict(self.fetch(query, "text", names, "FOR KEY SHARE"))

    def add_users(self, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of users, after adding those that do not exist.

        Names are added in one order everywhere, so that no two transactions wait for each other.
        That holds for one statement: if somebody was forgotten after it, the whole transaction
        has to be tried again.
        """
        statement = "INSERT INTO users (name) {rows} ON CONFLICT DO NOTHING"
        ordered = sorted(names)
        self.change(statement, "text", [(name,) for name in ordered])
        found = self.find_users(ordered)
        if len(found) < len(ordered):
            raise StoreUnavailableError("a user was forgotten meanwhile; try again")
        return found

    def read_statistics(self, user_ids: Sequence[int], fading: bool) -> StoredStatistics:
        """Return the statistics of users; where they are ``fading``, also what has faded."""
        columns = f"{PLAIN}, {FADED}" if fading else PLAIN
        query = f"SELECT {columns} FROM statistics WHERE user_id {{keys}}"
        return as_columns(self.fetch(query, "bigint", user_ids))

    def read_features(self, user_ids: Sequence[int]) -> list[tuple[int, str]]:
        """Return what is known of users besides rewards, as JSON, where anything is."""
        query = "SELECT user_id, content FROM features WHERE user_id {keys}"
        return [(int(user), str(text)) for user, text in self.fetch(query, "bigint", user_ids)]

    def set_features(self, rows: Iterable[tuple[int, str]]) -> None:
        """Write (user, JSON) in the place of what was known; every user comes once."""
        statement = (
            "INSERT INTO features (user_id, content) {rows} "
            "ON CONFLICT (user_id) DO UPDATE SET content = excluded.content"
        )
        self.change(statement, "bigint text", sorted(rows))

    def add_statistics(self, rows: Iterable[tuple[int, int, int, float]]) -> None:
        """Add (user, arm, plays, total) to what is there; every user and arm comes once."""
        self.change(ADD_PLAIN, "bigint bigint bigint float8", sorted(rows))

    def add_fading_statistics(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add (user, arm, plays, total) and the columns of `Recent` to what is there.

        Every user and arm comes once. Whichever landmark is later stays. What faded by another
        half-life begins anew.
        """
        kinds = "bigint bigint bigint float8 bigint bigint float8 float8 float8"
        self.change(ADD_FADING, kinds, sorted(rows))

    def find_decisions(
        self, ids: Sequence[bytes], lock: bool = False
    ) -> dict[bytes, StoredDecision]:
        """Return the decisions that exist; with ``lock``, others wait to change them."""
        rows = self.fetch(FIND_DECISIONS, "bytea", ids, "ORDER BY id FOR UPDATE" if lock else "")
        return {row[0]: StoredDecision._make(row) for row in rows}

    def add_decisions(self, rows: Sequence[NewDecision]) -> None:
        """Write new decisions."""
        kinds = "bytea bigint bigint float8 bigint bigint text bigint bigint"
        self.change(ADD_DECISIONS, kinds, rows)

    def set_rewards(self, rows: Sequence[tuple[float, int | None, int]]) -> None:
        """Write (reward, when it was reported, number of the decision)."""
        self.change(self.set_rewards_text, "float8 bigint bigint", rows)

    def find_past(self, ids: Sequence[bytes]) -> dict[bytes, StoredReward]:
        """Return the past rewards that are known."""
        query = "SELECT id, user_id, arm_id, reward, time FROM past_rewards WHERE id {keys}"
        rows = self.fetch(query, "bytea", ids)
        return {row[0]: StoredReward._make(row) for row in rows}

    def add_past(self, rows: Sequence[StoredReward]) -> None:
        """Write past rewards; it fails, and may be tried again, if another process wrote one."""
        statement = "INSERT INTO past_rewards (id, user_id, arm_id, reward, time) {rows}"
        self.change(statement, "bytea bigint bigint float8 bigint", rows)

    def add_sums(self, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        """Add rows to a table of sums, which has the key first; every key comes once."""
        self.change(*_adding(table), sorted(rows))


@cache
def _adding(table: Table) -> tuple[str, str]:
    """Return the statement that adds rows to what a table has, and the types of its columns."""
    names = [column.name for column in table.columns]
    keys = [column.name for column in table.primary_key]
    sums = [f"{name} = {table.name}.{name} + excluded.{name}" for name in names[len(keys) :]]
    statement = (
        f"INSERT INTO {table.name} ({', '.join(names)}) {{rows}} "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {', '.join(sums)}"
    )
    return statement, " ".join(TYPES[type(column.type)] for column in table.columns)
