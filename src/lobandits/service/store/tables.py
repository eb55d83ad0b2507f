"""The tables of a store.

Times are whole microseconds since 1970 (UTC). Users and arms have numbers of their own, so that
the large tables hold numbers only.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

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
arms = Table(
    "arms",
    metadata,
    Column("id", Number, primary_key=True, autoincrement=False),  # 1, 2, ... without gaps
    Column("name", Text, nullable=False, unique=True),
)
models = Table(
    "models",
    metadata,
    Column("version", BigInteger, primary_key=True, autoincrement=False),
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
    sqlite_autoincrement=True,  # no number twice: exports continue after a number
    postgresql_with={"fillfactor": 50},  # every row is updated once
)
# For erasure. In SQLite it would cost a quarter of every decision, and a scan is quick there.
Index("decisions_of_user", decisions.c.user_id).ddl_if(dialect="postgresql")
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
