"""Decisions that wait for a reward for too long."""

from collections.abc import Iterator

from lobandits.service.store.store import Store

SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written


def overdue(store: Store, late: int) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with. It is moved after
    the consumer has dealt with a page, so a long search that is interrupted goes on there; any
    number of processes may do this at once.
    """
    query = (
        "SELECT number, id, time, reward FROM decisions "
        "WHERE number > :after ORDER BY number LIMIT :page"
    )
    found = store.rows("SELECT value FROM meta WHERE key = 'expired'")
    mark = after = found[0].value if found else 0
    settled = True
    while rows := store.rows(query, after=after, page=2000):
        old = [row for row in rows if row.time < late]
        ids = [row.id for row in old if row.reward is None]
        if ids:
            yield ids
        known = mark
        for row in rows:
            settled = settled and row.time < late - SETTLED
            mark = row.number if settled else mark
        if mark > known:
            store.execute(
                "INSERT INTO meta (key, value) VALUES ('expired', :mark) ON CONFLICT (key) "
                "DO UPDATE SET value = excluded.value WHERE meta.value < excluded.value",
                mark=mark,
            )
        if len(old) < len(rows):
            break
        after = rows[-1].number
