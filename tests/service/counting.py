"""Is the store what its clients know? Every count, from the rows themselves."""

from collections.abc import Iterable

import pytest
from sqlalchemy import select
from tests.service.serving import ARMS, Ledger

from lobandits.service import DecisionService, LogRow
from lobandits.service.store import tables

Sums = dict[tuple[str, str], tuple[int, float]]


def check_store(url: str, ledger: Ledger) -> None:
    """Compare decisions, rewards, statistics and activity with each other and with a ledger."""
    with DecisionService(None, url) as service:
        rows = {row.id: row for row in service.log()}
        for key, (user, arm) in ledger.decided.items():
            assert (rows[key].user, rows[key].arm) == (user, arm), "of an acknowledged decision"
        for row in rows.values():
            assert row.arm.split(": ")[-1] in ARMS
            assert 0 < row.probability <= 1
            assert (row.reward is None) == (row.reward_time is None)
        rewarded = {key: row.reward for key, row in rows.items() if row.reward is not None}
        assert ledger.acknowledged.items() <= rewarded.items(), "an acknowledged reward was lost"
        assert rewarded.items() <= ledger.sent.items(), "nobody sent this reward"
        assert stored_sums(service) == counted_sums(rows.values())
        check_recent(service)
        active = service.activity(minutes=60)
        assert sum(active["decisions"]) == len(rows)
        assert sum(active["rewards"]) == len(rewarded)


def check_recent(service: DecisionService) -> None:
    """With a half-life, compare what is recent with the decisions, each at its own time."""
    if (half_life := service.policy.half_life) is None:
        return
    weights: dict[tuple[int, int], tuple[float, float, float]] = {}
    with service.store.read() as connection:
        cells = connection.execute(select(tables.statistics)).all()
        epochs = {(cell.user_id, cell.arm_id): cell.epoch for cell in cells}
        for row in connection.execute(select(tables.decisions)):
            if row.reward is not None:
                cell = row.user_id, row.arm_id
                span = round(half_life * 1e6)  # whole numbers: no digit is lost
                g = 2.0 ** ((row.time - 64 * epochs[cell] * span) / span)
                old = weights.get(cell, (0.0, 0.0, 0.0))
                new = g, g * row.reward, g * g
                weights[cell] = tuple(map(sum, zip(old, new, strict=True)))  # type: ignore[assignment]
    assert weights.keys() == epochs.keys()
    for cell in cells:
        kept = cell.weight, cell.weighted, cell.squares
        size = abs(cell.weight) * 10.0
        plain = weights[cell.user_id, cell.arm_id]
        assert kept == pytest.approx(plain, rel=1e-9, abs=1e-12 * size), "what is recent"


def counted_sums(rows: Iterable[LogRow]) -> Sums:
    """Return plays and sum of rewards by user and arm, from the decisions."""
    sums: Sums = {}
    for row in rows:
        if row.reward is not None:
            plays, total = sums.get((row.user, row.arm), (0, 0.0))
            sums[row.user, row.arm] = (plays + 1, total + row.reward)
    return sums


def stored_sums(service: DecisionService) -> Sums:
    """Return the same from the statistics."""
    users, arms, cells = tables.users.c, tables.arms.c, tables.statistics.c
    query = (
        select(users.name, arms.name, cells.plays, cells.total)
        .join(tables.users, users.id == cells.user_id)
        .join(tables.arms, arms.id == cells.arm_id)
    )
    with service.store.read() as connection:
        return {(u, a): (plays, total) for u, a, plays, total in connection.execute(query)}
