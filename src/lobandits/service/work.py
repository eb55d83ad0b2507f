"""The one transaction: rewards are counted, then decisions are made and written."""

import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from lobandits.service.calls import Call, DecisionCall, RewardCall
from lobandits.service.making import Maker
from lobandits.service.model import Model
from lobandits.service.names import Names
from lobandits.service.store.store import Store
from lobandits.service.store.transaction import StoredDecision, Transaction

RECORDED, ALREADY = "recorded", "already recorded"
UNKNOWN, CONFLICT, EXPIRED = "unknown decision", "conflict", "expired"


def microseconds() -> int:
    """Return the time, in microseconds since 1970."""
    return time.time_ns() // 1000


class Sums:
    """Counts and totals of rewards by key."""

    def __init__(self) -> None:
        self._cells: dict[Any, list[float]] = {}

    def add(self, key: Any, value: float) -> None:
        """Add one reward."""
        cell = self._cells.setdefault(key, [0, 0.0])
        cell[0] += 1
        cell[1] += value

    def get(self, key: Any) -> tuple[int, float]:
        """Return (count, total)."""
        count, total = self._cells.get(key, (0, 0.0))
        return int(count), total

    def __iter__(self) -> Iterator[Any]:
        return iter(self._cells)


def work_on(
    store: Store,
    model: Model,
    names: Names,
    rng: np.random.Generator,
    writer: int,
    calls: Sequence[Call[Any]],
) -> None:
    """Do all calls in one transaction, and set their outcomes after its commit."""
    rewards = [call for call in calls if isinstance(call, RewardCall)]
    maker = Maker(model, names, rng, [call for call in calls if isinstance(call, DecisionCall)])

    def work(transaction: Transaction, again: bool) -> list[tuple[Call[Any], Any]]:
        now = microseconds()
        earned = Sums()
        outcomes: list[tuple[Call[Any], Any]] = []
        if rewards:
            outcomes += count_rewards(transaction, rewards, now, earned)
        played = maker.work(transaction, now, again)
        outcomes += maker.outcomes
        transaction.add_activity(
            (now // 60_000_000, arm, writer, played.get(arm, 0), *earned.get(arm))
            for arm in {*played, *earned}
        )
        return outcomes

    for call, outcome in store.transact(work):
        if isinstance(outcome, Exception):
            call.fail(outcome)
        else:
            call.finish(outcome)


def count_rewards(
    transaction: Transaction, calls: Iterable[RewardCall], now: int, earned: Sums
) -> list[tuple[RewardCall, list[str]]]:
    """Write the rewards of decisions that have none, and add them to the statistics.

    Reported rewards are also added to ``earned``, by arm.
    """
    ids = {reward.decision for call in calls for reward in call.rewards if reward.decision}
    stored = transaction.find_decisions(sorted(ids), lock=True)
    written: list[tuple[float, int | None, int]] = []
    added = Sums()
    outcomes = []
    for call in calls:
        when = None if call.default else now
        statuses = []
        for reward in call.rewards:
            found = stored.get(reward.decision) if reward.decision else None
            status = _status(found, reward.reward)
            statuses.append(status)
            if found is not None and status == RECORDED:
                written.append((reward.reward, when, found.number))
                stored[found.id] = found._replace(reward=reward.reward, rewarded=when)
                added.add((found.user_id, found.arm_id), reward.reward)
                if not call.default:
                    earned.add(found.arm_id, reward.reward)
        outcomes.append((call, statuses))
    transaction.set_rewards(written)
    transaction.add_statistics((*cell, *added.get(cell)) for cell in added)
    return outcomes


def _status(found: StoredDecision | None, reward: float) -> str:
    if found is None:
        return UNKNOWN
    if found.reward is None:
        return RECORDED
    if found.reward == reward:
        return ALREADY
    return EXPIRED if found.rewarded is None else CONFLICT
