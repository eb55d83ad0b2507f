"""The tables of a store, and the steps that bring an older store up to date.

Times are whole microseconds since 1970 (UTC). Users and arms have numbers of their own, so that
the large tables hold numbers only. An arm and a model belong to one problem, and by them so do
statistics, decisions and activity; a user is the same in all problems.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
    update,
)

from lobandits.errors import LobInputError

MINUTE = 60_000_000  # microseconds


def microseconds() -> int:
    """Return the time now."""
    return time.time_ns() // 1000


def as_date(time: float) -> datetime:
    """Return a time as a date."""
    return datetime.fromtimestamp(time / 1e6, UTC)


metadata = MetaData()
Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite's own row number, if a key
UPDATED = {"fillfactor": 70}  # PostgreSQL: leaves room for updated rows beside their old version


def _key(name: str) -> Column[int]:
    return Column(name, Number, Identity(always=True), primary_key=True)


meta = Table(
    "meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)
users = Table(
    "users",
    metadata,
    _key("id"),
    Column("name", Text, nullable=False, unique=True),
)
features = Table(
    "features",
    metadata,
    Column("user_id", BigInteger, primary_key=True, autoincrement=False),
    Column("content", Text, nullable=False),  # JSON: by name, the newest of each
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)
problems = Table(
    "problems",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),  # 1, 2, ... without gaps
    Column("name", Text, nullable=False, unique=True),
)
arms = Table(
    "arms",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),  # 1, 2, ... without gaps
    Column("problem_id", Number, nullable=False),
    Column("name", Text, nullable=False),
    UniqueConstraint("problem_id", "name"),
)
models = Table(
    "models",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),  # 1, 2, ... of all
    Column("problem_id", Number, nullable=False),
    Column("hash", Text, nullable=False),
    Column("policy", Text, nullable=False),
    Column("time", BigInteger, nullable=False),
)
withdrawn = Table(
    "withdrawn",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),  # of a model
    Column("time", BigInteger, nullable=False),
)
statistics = Table(
    "statistics",
    metadata,
    Column("user_id", BigInteger, primary_key=True, autoincrement=False),
    Column("arm_id", BigInteger, primary_key=True, autoincrement=False),
    Column("plays", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    # The same faded, by a half-life in microseconds and relative to an epoch's landmark.
    Column("half_life", BigInteger, nullable=False, server_default="0"),
    Column("epoch", BigInteger, nullable=False, server_default="0"),
    Column("weight", Double, nullable=False, server_default="0"),
    Column("weighted", Double, nullable=False, server_default="0"),
    Column("squares", Double, nullable=False, server_default="0"),
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)
decisions = Table(
    "decisions",
    metadata,
    _key("number"),
    Column("id", LargeBinary(16), nullable=False, unique=True),
    Column("user_id", BigInteger, nullable=False),
    Column("arm_id", BigInteger, nullable=False),
    Column("probability", Double, nullable=False),
    Column("model", BigInteger, nullable=False),
    Column("time", BigInteger, nullable=False),
    Column("reward", Double),
    Column("rewarded", BigInteger),  # when it was reported; null: never, or the default reward
    Column("control_group", Text),  # who decided; null: the model, without a control group
    Column("comparison_id", BigInteger),
    Column("advised", BigInteger),  # the arm of the model, where the caller chose one itself
    sqlite_autoincrement=True,  # no number twice: exports continue after a number
    postgresql_with={"fillfactor": 50},  # every row is updated once
)
# For erasure. In SQLite it would cost a quarter of every decision, and a scan is quick there.
Index("decisions_of_user", decisions.c.user_id).ddl_if(dialect="postgresql")
past_rewards = Table(
    "past_rewards",
    metadata,
    Column("id", LargeBinary(16), primary_key=True),
    Column("user_id", BigInteger, nullable=False, index=True),
    Column("arm_id", BigInteger, nullable=False),
    Column("reward", Double, nullable=False),
    Column("time", BigInteger, nullable=False),  # of the reward, or else of its import
    sqlite_with_rowid=False,
)
activity = Table(
    "activity",
    metadata,
    Column("minute", BigInteger, primary_key=True, autoincrement=False),
    Column("arm_id", BigInteger, primary_key=True, autoincrement=False),
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("decisions", BigInteger, nullable=False),
    Column("rewards", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)


comparisons = Table(
    "comparisons",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),  # 1, 2, ... without gaps
    Column("problem_id", Number, nullable=False),
    Column("policy", Text, nullable=False),  # of the control group
    Column("share", Double, nullable=False),
    Column("rewards", BigInteger, nullable=False),  # after which a user counts
    Column("key", LargeBinary(16), nullable=False),  # of the hash that assigns users
    Column("time", BigInteger, nullable=False),
)
trials = Table(
    "trials",
    metadata,
    Column("comparison_id", BigInteger, primary_key=True, autoincrement=False),
    Column("user_id", BigInteger, primary_key=True, autoincrement=False),
    Column("control", Integer, nullable=False),  # 1 in the control group, else 0
    Column("rewards", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    Column("latest", BigInteger, nullable=False),  # when a reward came last
    Column("mean", Double),  # of the first rewards; it stays from then on
    Column("counted", BigInteger),  # when there were enough of them
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)
group_activity = Table(
    "group_activity",
    metadata,
    Column("minute", BigInteger, primary_key=True, autoincrement=False),  # 0: over all time
    Column("model", BigInteger, primary_key=True, autoincrement=False),
    Column("control_group", Text, primary_key=True),
    Column("comparison_id", BigInteger, primary_key=True, autoincrement=False),  # 0: none
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("decisions", BigInteger, nullable=False),
    Column("rewards", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)
advice = Table(
    "advice",
    metadata,
    Column("shown", BigInteger, primary_key=True, autoincrement=False),  # by the caller
    Column("advised", BigInteger, primary_key=True, autoincrement=False),
    Column("writer", BigInteger, primary_key=True, autoincrement=False),
    Column("decisions", BigInteger, nullable=False),
    Column("rewards", BigInteger, nullable=False),
    Column("total", Double, nullable=False),
    sqlite_with_rowid=False,
    postgresql_with=UPDATED,
)


def _create(connection: Connection) -> None:
    metadata.create_all(connection)


def _add_fading(connection: Connection) -> None:
    """Add what half-lives need: faded sums, and times of past rewards (0: long ago)."""
    for table in (statistics, past_rewards):
        known = {column["name"] for column in inspect(connection).get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                kind = column.type.compile(connection.dialect)
                connection.exec_driver_sql(
                    f"ALTER TABLE {table.name} ADD COLUMN {column.name} {kind} NOT NULL DEFAULT 0"
                )


def _drop_doubts(connection: Connection) -> None:
    """Drop a column of version 3, of which follow no others; in SQLite by copying the rest."""
    known = [column["name"] for column in inspect(connection).get_columns("statistics")]
    if "doubt" not in known:
        return
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE statistics DROP COLUMN doubt")
        return
    columns = ", ".join(column.name for column in statistics.columns)
    connection.exec_driver_sql("ALTER TABLE statistics RENAME TO old_statistics")
    statistics.create(connection)
    connection.exec_driver_sql(
        f"INSERT INTO statistics ({columns}) SELECT {columns} FROM old_statistics"
    )
    connection.exec_driver_sql("DROP TABLE old_statistics")


def _nothing(connection: Connection) -> None:
    """Do what version 3 needs: its only column is gone."""


def _add_features(connection: Connection) -> None:
    """Add what is known of users besides rewards."""
    features.create(connection, checkfirst=True)


STEPS: tuple[Callable[[Connection], None], ...] = (
    _create,
    _add_fading,
    _nothing,
    _drop_doubts,
    _add_features,
)
"""Step i brings a store from version i to i + 1; an empty store has version 0."""


def migrate(connection: Connection) -> bool:
    """Bring the store up to date in the caller's transaction; return whether it is new.

    Refuse one of a newer lobandits.
    """
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
    return version == 0
