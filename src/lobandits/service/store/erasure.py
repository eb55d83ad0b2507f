"""Erasure: a user's decisions and statistics, in one transaction."""

from sqlalchemy import Connection, and_, delete, func, select

from lobandits.service.store import tables
from lobandits.service.store.store import Store


def forget(store: Store, user: str) -> int:
    """Delete a user with all decisions and statistics; return how many decisions."""
    users, statistics, decisions = tables.users.c, tables.statistics.c, tables.decisions.c
    who = select(users.id).where(users.name == user)
    with store.read() as connection:
        number = connection.scalar(who)
        old, last = _scan(connection, number)

    def work(connection: Connection, again: bool) -> int:
        if connection.scalar(who.with_for_update()) != number:
            return 0  # another call has forgotten the user meanwhile
        # Decisions first: a reward under way has locked its decision, so statistics that it
        # adds are there before they are deleted.
        new = and_(decisions.number > last, decisions.user_id == number)
        gone = connection.execute(delete(tables.decisions).where(new)).rowcount
        if old:
            one = "DELETE FROM decisions WHERE number = ?"
            connection.exec_driver_sql(one, [(key,) for key in old])
        connection.execute(delete(tables.statistics).where(statistics.user_id == number))
        connection.execute(delete(tables.users).where(users.id == number))
        return gone + len(old)

    return 0 if number is None else store.write(work)


def _scan(connection: Connection, user_id: int | None) -> tuple[list[int], int]:
    """Return the user's decisions up to some number, and that number; none where an index exists.

    SQLite has no index of users' decisions, so that decisions are quick. It is scanned before
    the lock of the one writer is taken; then only what came since must be.
    """
    if connection.dialect.name != "sqlite" or user_id is None:
        return [], 0
    columns = tables.decisions.c
    last = connection.scalar(select(func.max(columns.number))) or 0
    query = select(columns.number).where(columns.user_id == user_id)
    return list(connection.scalars(query)), last
