"""Decisions that have waited too long for their rewards."""

from collections.abc import Iterator

from lobandits.service.store.queries import raise_mark, read_mark, read_waiting
from lobandits.service.store.store import Store

PAGE = 2000
SETTLED = 60_000_000  # microseconds after which no decision of that time is still being written
MARK = "expired"


def overdue(store: Store, late: int) -> Iterator[list[bytes]]:
    """Yield ids of unrewarded decisions made before ``late``, a page at a time.

    A mark in the store says up to which number all decisions are dealt with, so that each one is
    looked at about once. It is moved after the consumer has dealt with a page, so a long search
    that is interrupted goes on there; any number of processes may do this at once.
    """
    mark = after = read_mark(store, MARK)
    settled = True
    while rows := read_waiting(store, after, PAGE):
        old = [row for row in rows if row.time < late]
        ids = [row.id for row in old if not row.rewarded]
        if ids:
            yield ids
        known = mark
        for row in rows:
            settled = settled and row.time < late - SETTLED
            mark = row.number if settled else mark
        if mark > known:
            raise_mark(store, MARK, mark)
        if len(old) < len(rows):
            break
        after = rows[-1].number
