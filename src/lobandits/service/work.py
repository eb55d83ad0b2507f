"""The one transaction: rewards are counted, then decisions are made and written."""

import time
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from lobandits.errors import LobError
from lobandits.service.calls import Call, Decision, DecisionCall, RewardCall, new_ids
from lobandits.service.errors import (
    DecisionExpiredError,
    IdConflictError,
    RewardConflictError,
    UnknownDecisionError,
)
from lobandits.service.model import CurrentModel, Key
from lobandits.service.store import Store
from lobandits.service.store.databases import StoredDecision, Transaction

RECORDED, ALREADY = "recorded", "already recorded"
UNKNOWN, CONFLICT, EXPIRED = "unknown decision", "conflict", "expired"

Outcome = tuple[Call[Any], Any]  # a call, and its value or error
Sums = dict[Any, tuple[int, float]]  # counts and totals of rewards


class Wanted(NamedTuple):
    """A request for a decision, with its id and its arms in the model."""

    user: str
    id: bytes
    named: bool  # whether the caller gave the id
    key: Key


class Work:
    """All that some calls want, done in one transaction.

    Every request has its id before: so another try finds what an earlier one has written.
    """

    def __init__(
        self,
        current: CurrentModel,
        rng: np.random.Generator,
        writer: int,
        calls: Sequence[Call[Any]],
    ) -> None:
        self._current, self._model = current, current.model
        self._rng, self._writer = rng, writer
        self._rewards = [call for call in calls if isinstance(call, RewardCall)]
        self._wanted: dict[DecisionCall, list[Wanted]] = {}
        self._tried = False
        for call in calls:
            if isinstance(call, DecisionCall):
                try:
                    self._wanted[call] = self._want(call)
                except LobError as error:
                    call.fail(error)

    def _want(self, call: DecisionCall) -> list[Wanted]:
        return [
            Wanted(user, given or fresh, given is not None, self._model.key(allowed))
            for (user, allowed, given), fresh in zip(call.requests, new_ids(call.size), strict=True)
        ]

    def run(self, store: Store) -> None:
        """Do the work, and set the outcomes after its commit."""
        outcomes = store.write(lambda connection: self._do(store.transaction(connection)))
        for call, outcome in outcomes:
            if isinstance(outcome, Exception):
                call.fail(outcome)
            else:
                call.finish(outcome)

    def _do(self, transaction: Transaction) -> list[Outcome]:
        now = microseconds()
        earned: Sums = {}
        outcomes = self._count(transaction, now, earned)
        decided, played = self._decide(transaction, now)
        transaction.add_activity(
            (now // 60_000_000, arm, self._writer, played[arm], *earned.get(arm, (0, 0.0)))
            for arm in {*played, *earned}
        )
        return outcomes + decided

    def _count(self, transaction: Transaction, now: int, earned: Sums) -> list[Outcome]:
        """Write the rewards of decisions that have none; add them to statistics and ``earned``."""
        ids = {key for call in self._rewards for key, _ in call.rewards if key}
        stored = transaction.find_decisions(sorted(ids), lock=True)
        written: list[tuple[float, int | None, int]] = []
        added: Sums = {}
        outcomes: list[Outcome] = []
        for call in self._rewards:
            when = None if call.default else now
            statuses = []
            for key, reward in call.rewards:
                found = stored.get(key) if key else None
                status = _status(found, reward)
                statuses.append(status)
                if found is not None and status == RECORDED:
                    written.append((reward, when, found.number))
                    stored[found.id] = found._replace(reward=reward, rewarded=when)
                    _add(added, (found.user_id, found.arm_id), reward)
                    if not call.default:
                        _add(earned, found.arm_id, reward)
            outcomes.append((call, statuses))
        transaction.set_rewards(written)
        transaction.add_statistics((*cell, *sums) for cell, sums in added.items())
        return outcomes

    def _decide(self, transaction: Transaction, now: int) -> tuple[list[Outcome], Counter[int]]:
        """Return decisions that exist, make the others; also count those made by arm."""
        every = [want for wants in self._wanted.values() for want in wants]
        known = [want.id for want in every if self._tried or want.named]
        self._tried = True
        stored = transaction.find_decisions(known)
        users = transaction.find_users(list({want.user: None for want in every}))
        fresh, refused = self._accept(stored, users)
        made, played = self._make(transaction, fresh, users, now)
        made |= {row.id: self._told(row) for row in stored.values()}
        outcomes: list[Outcome] = [
            (call, refused.get(call) or [made[want.id] for want in wants])
            for call, wants in self._wanted.items()
        ]
        return outcomes, played

    def _accept(
        self, stored: dict[bytes, StoredDecision], users: dict[str, int]
    ) -> tuple[list[Wanted], dict[DecisionCall, IdConflictError]]:
        """Return what is wanted anew, and errors of calls with ids of other users."""
        names = {number: name for name, number in users.items()}
        owners = {row.id: names.get(row.user_id) for row in stored.values()}
        fresh: list[Wanted] = []
        refused: dict[DecisionCall, IdConflictError] = {}
        for call, wants in self._wanted.items():
            mine: dict[bytes, Wanted] = {}
            for want in wants:
                first = mine.setdefault(want.id, want)
                if owners.get(want.id, first.user) != want.user:
                    refused[call] = IdConflictError(
                        f"the id {want.id.hex()} is of another user's decision"
                    )
                    break
            else:
                fresh += [want for want in mine.values() if want.id not in owners]
                owners |= {want.id: want.user for want in mine.values()}
        return fresh, refused

    def _make(
        self, transaction: Transaction, wants: list[Wanted], users: dict[str, int], now: int
    ) -> tuple[dict[bytes, Decision], Counter[int]]:
        """Decide for users, new ones too, and write the decisions."""
        if not wants:
            return {}, Counter()
        model = self._model
        row_of = {name: row for row, name in enumerate(dict.fromkeys(want.user for want in wants))}
        users = users | transaction.add_users(name for name in row_of if name not in users)
        numbers = [users[name] for name in row_of]
        table = model.table(numbers, transaction.read_statistics(numbers))
        rows = np.array([row_of[want.user] for want in wants])
        choices = model.choose(table, rows, [want.key for want in wants], self._rng)
        written, made = [], {}
        for want, place, chance in zip(wants, *choices, strict=True):
            arm = model.ids[place]
            written.append((want.id, users[want.user], arm, chance, model.version, now))
            made[want.id] = Decision(want.id.hex(), model.policy.arms[place], chance, model.name)
        transaction.add_decisions(written)
        return made, Counter(row[2] for row in written)

    def _told(self, row: StoredDecision) -> Decision:
        """Return a stored decision as it was returned before."""
        arm, model = self._current.arm_name(row.arm_id), self._current.model_name(row.model)
        return Decision(row.id.hex(), arm, row.probability, model)


def microseconds() -> int:
    """Return the time since 1970."""
    return time.time_ns() // 1000


def counted(decision: str, status: str) -> str:
    """Return the status of a reward that counts, or raise why it does not."""
    if status == UNKNOWN:
        raise UnknownDecisionError(f"unknown decision {decision[:40]!r}")
    if status == EXPIRED:
        raise DecisionExpiredError(
            f"the reward of decision {decision} came too late: it was given the default reward"
        )
    if status == CONFLICT:
        raise RewardConflictError(
            f"decision {decision} has another reward already; the first one counts"
        )
    return status


def _add(sums: Sums, key: Hashable, reward: float) -> None:
    count, total = sums.get(key, (0, 0.0))
    sums[key] = count + 1, total + reward


def _status(found: StoredDecision | None, reward: float) -> str:
    if found is None:
        return UNKNOWN
    if found.reward is None:
        return RECORDED
    if found.reward == reward:
        return ALREADY
    return EXPIRED if found.rewarded is None else CONFLICT
