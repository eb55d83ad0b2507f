"""PostgreSQL, through psycopg 3."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import URL, Engine, create_engine

from lobandits.service.store.transaction import Transaction

BUSY_SECONDS = 5.0  # that a thread waits for a connection


class PostgresTransaction(Transaction):
    """Arrays as parameters, in binary; rows are locked in one order."""

    set_rewards_text = (
        "UPDATE decisions SET reward = new.reward, rewarded = new.rewarded FROM ({rows}) "
        "AS new (reward, rewarded, number) WHERE decisions.number = new.number"
    )

    def fetch(self, query: str, kind: str, values: Sequence[Any], lock: str = "") -> list[Any]:
        """Return the rows whose key is one of ``values``."""
        if not values:
            return []
        text = f"{query.format(keys=f'= ANY(%b::{kind}[])')} {lock}"
        self.cursor.execute(text, (list(values),), binary=True)
        return list(self.cursor.fetchall())

    def change(self, statement: str, kinds: str, rows: Sequence[tuple[Any, ...]]) -> None:
        """Execute the statement for all rows."""
        if rows:
            arrays = ", ".join(f"%b::{kind}[]" for kind in kinds.split())
            text = statement.format(rows=f"SELECT * FROM unnest({arrays})")
            self.cursor.execute(text, [list(column) for column in zip(*rows, strict=True)])


def postgresql_engine(url: URL) -> Engine:
    """Return the engine of a database; no statement or lock is waited for without end."""
    limits = "-c statement_timeout=10000 -c lock_timeout=5000 -c timezone=utc"
    options = f"{url.query.get('options', '')} {limits}".strip()
    return create_engine(
        url.set(drivername="postgresql+psycopg").update_query_dict({"options": options}),
        connect_args={"connect_timeout": 3},
        pool_pre_ping=True,
        pool_size=4,
        max_overflow=6,
        pool_timeout=BUSY_SECONDS,
        isolation_level="READ COMMITTED",
    )
