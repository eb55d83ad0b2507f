"""The log of decisions, for exports and off-policy estimates."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from lobandits.service.names import Names
from lobandits.service.store.queries import read_log
from lobandits.service.store.store import Store


class LogRow(NamedTuple):
    """A decision and what became of it.

    Attributes
    ----------
    number : int
        Counts the decisions of a store; to continue an export, start after the last one.
    id, user, arm, probability, model
        As in `Decision`.
    time : datetime
        When it was made, UTC.
    reward : float or None
        None if there is none yet.
    reward_time : datetime or None
        When the reward was reported; None also if it is the default reward.
    action, pscore
        The arm as a number from 0, and the probability, as Open Bandit Pipeline names them.
    """

    number: int
    id: str
    user: str
    arm: str
    probability: float
    model: str
    time: datetime
    reward: float | None
    reward_time: datetime | None
    action: int
    pscore: float


def log_rows(store: Store, names: Names, after: int, page: int) -> Iterator[LogRow]:
    """Yield the decisions numbered above ``after``, a page at a time."""
    while rows := read_log(store, after, page):
        for row in rows:
            yield LogRow(
                number=row.number,
                id=row.id.hex(),
                user=row.user,
                arm=row.arm,
                probability=row.probability,
                model=names.model(row.version),
                time=_date(row.time),
                reward=row.reward,
                reward_time=None if row.rewarded is None else _date(row.rewarded),
                action=row.arm_id - 1,
                pscore=row.probability,
            )
        after = rows[-1].number


def _date(microseconds: int) -> datetime:
    return datetime.fromtimestamp(microseconds / 1e6, UTC)
