"""The one transaction: rewards are counted, then decisions are made and written."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from lobandits.errors import LobError
from lobandits.service.calls import Call, Decision, DecisionCall, Request, RewardCall
from lobandits.service.checks import new_ids
from lobandits.service.deciding import choose, table_of
from lobandits.service.errors import IdConflictError
from lobandits.service.model import Model
from lobandits.service.store.store import Store
from lobandits.service.store.transaction import StoredDecision, Transaction

RECORDED, ALREADY = "recorded", "already recorded"
UNKNOWN, CONFLICT, EXPIRED = "unknown decision", "conflict", "expired"


def microseconds() -> int:
    """Return the time, in microseconds since 1970."""
    return time.time_ns() // 1000


class Names:
    """The names of all arms and models by their numbers; read again when one is missing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._arms: dict[int, str] = {}
        self._models: dict[int, str] = {}

    def add(self, model: Model) -> None:
        """Remember the names of a model and its arms."""
        self._models[model.version] = model.name
        self._arms.update(zip(model.ids, model.policy.arms, strict=True))

    def arm(self, number: int) -> str:
        """Return the name of an arm."""
        if number not in self._arms:
            self._arms = {number: name for name, number in self._store.arms().items()}
        return self._arms[number]

    def model(self, version: int) -> str:
        """Return the name of a model."""
        if version not in self._models:
            self._models[version] = self._store.model(version).name
        return self._models[version]


class Wanted(NamedTuple):
    """A request for a decision, with its id and its arms in the model."""

    request: Request
    id: bytes
    key: tuple[int, ...] | None


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
    wanted = [
        (call, wants)
        for call in calls
        if isinstance(call, DecisionCall) and (wants := _wanted(model, call)) is not None
    ]

    def work(transaction: Transaction, again: bool) -> list[tuple[Call[Any], Any]]:
        now = microseconds()
        played: Counter[int] = Counter()
        totals: dict[int, list[float]] = {}
        outcomes: list[tuple[Call[Any], Any]] = []
        if rewards:
            outcomes += _count_rewards(transaction, rewards, now, totals)
        if wanted:
            outcomes += _make_decisions(transaction, model, names, rng, wanted, now, again, played)
        minute = now // 60_000_000
        transaction.add_activity(
            (minute, arm, writer, played[arm], *_pair(totals.get(arm)))
            for arm in played.keys() | totals.keys()
        )
        return outcomes

    for call, outcome in store.transact(work):
        if isinstance(outcome, Exception):
            call.fail(outcome)
        else:
            call.finish(outcome)


def _pair(sums: list[float] | None) -> tuple[int, float]:
    return (int(sums[0]), sums[1]) if sums else (0, 0.0)


def _wanted(model: Model, call: DecisionCall) -> list[Wanted] | None:
    """Give every request its id and arms, or fail the call."""
    ids = new_ids(len(call.requests))
    try:
        return [
            Wanted(request, request.id or fresh, model.key(request.allowed))
            for request, fresh in zip(call.requests, ids, strict=True)
        ]
    except LobError as error:
        call.fail(error)
        return None


def _count_rewards(
    transaction: Transaction,
    calls: Sequence[RewardCall],
    now: int,
    totals: dict[int, list[float]],
) -> list[tuple[Call[Any], Any]]:
    """Write the rewards of decisions that have none, and add them to the statistics."""
    ids = {reward.decision for call in calls for reward in call.rewards if reward.decision}
    stored = transaction.find_decisions(sorted(ids), lock=True)
    written: list[tuple[float, int | None, int]] = []
    added: dict[tuple[int, int], list[float]] = {}
    outcomes: list[tuple[Call[Any], Any]] = []
    for call in calls:
        when = None if call.default else now
        statuses = []
        for reward in call.rewards:
            found = stored.get(reward.decision) if reward.decision else None
            status = _status(found, reward.reward)
            if found is not None and status == RECORDED:
                written.append((reward.reward, when, found.number))
                stored[found.id] = found._replace(reward=reward.reward, rewarded=when)
                _add(added, (found.user_id, found.arm_id), reward.reward)
                if not call.default:
                    _add(totals, found.arm_id, reward.reward)
            statuses.append(status)
        outcomes.append((call, statuses))
    transaction.set_rewards(written)
    transaction.add_statistics(
        (user, arm, int(plays), total) for (user, arm), (plays, total) in added.items()
    )
    return outcomes


def _status(found: StoredDecision | None, reward: float) -> str:
    if found is None:
        return UNKNOWN
    if found.reward is None:
        return RECORDED
    if found.reward == reward:
        return ALREADY
    return EXPIRED if found.rewarded is None else CONFLICT


def _add(sums: dict[Any, list[float]], key: Any, value: float) -> None:
    cell = sums.get(key)
    if cell is None:
        sums[key] = [1, value]
    else:
        cell[0] += 1
        cell[1] += value


def _make_decisions(
    transaction: Transaction,
    model: Model,
    names: Names,
    rng: np.random.Generator,
    wanted: Sequence[tuple[DecisionCall, list[Wanted]]],
    now: int,
    again: bool,
    played: Counter[int],
) -> list[tuple[Call[Any], Any]]:
    """Return stored decisions again, and make and write the others."""
    every = [want for _, wants in wanted for want in wants]
    known = [want.id for want in every if again or want.request.id]
    stored = transaction.find_decisions(known) if known else {}
    users = transaction.find_users(list({want.request.user: None for want in every}))
    outcomes: list[tuple[Call[Any], Any]] = []
    fresh: dict[bytes, Wanted] = {}
    accepted = []
    for call, wants in wanted:
        error = _conflict(wants, stored, users, fresh)
        if error is None:
            accepted.append((call, wants))
            fresh.update((want.id, want) for want in wants if want.id not in stored)
        else:
            outcomes.append((call, error))
    made = _decide(transaction, model, rng, list(fresh.values()), users, now, played)
    for key, row in stored.items():
        made[key] = Decision(
            key.hex(), names.arm(row.arm_id), row.probability, names.model(row.model)
        )
    outcomes += [(call, [made[want.id] for want in wants]) for call, wants in accepted]
    return outcomes


def _conflict(
    wants: Sequence[Wanted],
    stored: dict[bytes, StoredDecision],
    users: dict[str, int],
    fresh: dict[bytes, Wanted],
) -> Exception | None:
    """Return an error if an id belongs to another user, in the store or in this batch."""
    mine: dict[bytes, str] = {}
    for want in wants:
        if want.request.id is None:
            continue
        user = want.request.user
        row, other = stored.get(want.id), fresh.get(want.id)
        taken = (row is not None and row.user_id != users.get(user)) or (
            other is not None and other.request.user != user
        )
        if taken or mine.setdefault(want.id, user) != user:
            return IdConflictError(f"the id {want.id.hex()} belongs to another user's decision")
    return None


def _decide(
    transaction: Transaction,
    model: Model,
    rng: np.random.Generator,
    wants: Sequence[Wanted],
    users: dict[str, int],
    now: int,
    played: Counter[int],
) -> dict[bytes, Decision]:
    """Decide for users, new ones too, and write the decisions."""
    if not wants:
        return {}
    people = list({want.request.user: None for want in wants})
    missing = [name for name in people if name not in users]
    if missing:
        users.update(transaction.add_users(missing))
    row_of = {name: row for row, name in enumerate(people)}
    numbers = [users[name] for name in people]
    table = table_of(model, numbers, transaction.read_statistics(numbers))
    rows = np.array([row_of[want.request.user] for want in wants])
    places, chances = choose(model, table, rows, [want.key for want in wants], rng)
    arms, version, name = model.policy.arms, model.version, model.name
    written, made = [], {}
    for want, row, place, chance in zip(
        wants, rows.tolist(), places.tolist(), chances.tolist(), strict=True
    ):
        key = want.id
        written.append((key, numbers[row], model.ids[place], chance, version, now))
        made[key] = Decision(key.hex(), arms[place], chance, name)
    transaction.add_decisions(written)
    for place, count in enumerate(np.bincount(places, minlength=len(arms)).tolist()):
        if count:
            played[model.ids[place]] += count
    return made
