"""Rewards without decisions, of the time before the service: each counts once, by its id."""

from collections.abc import Hashable, Iterable
from hashlib import blake2b
from typing import Any, NamedTuple

from lobandits.errors import LobError
from lobandits.service.call_queue import PastCall
from lobandits.service.current_model import CurrentModels
from lobandits.service.recent import Added
from lobandits.service.store.transaction import StoredReward, Transaction

RECORDED, ALREADY, CONFLICT = "recorded", "already recorded", "conflict"

Sums = dict[Any, tuple[int, float]]  # counts and totals of rewards


def add_reward(sums: Sums, key: Hashable, reward: float) -> None:
    """Count a reward."""
    count, total = sums.get(key, (0, 0.0))
    sums[key] = count + 1, total + reward


class Known(NamedTuple):
    """A past reward, with its id as it is stored and its arm's number."""

    id: bytes
    user: str
    arm: int
    reward: float
    time: int | None
    half_life: int | None


class PastRewards:
    """Records the past rewards of some calls, of arms that the models have now."""

    def __init__(self, current: CurrentModels, calls: Iterable[PastCall]) -> None:
        self._known: dict[PastCall, list[Known]] = {}
        for call in calls:
            try:
                self._known[call] = _known(current, call)
            except LobError as error:
                call.set_exception(error)

    def record(self, transaction: Transaction, now: int, added: Added) -> dict[PastCall, list[str]]:
        """Write rewards that are new, add them to ``added``, and return the statuses of all.

        One without a time counts as of now.
        Users are found first, as decisions do, so that nobody is forgotten meanwhile.
        """
        if not self._known:
            return {}
        every = [row for rows in self._known.values() for row in rows]
        names = {row.user for row in every}
        users = transaction.find_users(sorted(names))
        users |= transaction.add_users(names - users.keys())
        stored = transaction.find_past(sorted({row.id for row in every}))
        written: list[StoredReward] = []
        statuses: dict[PastCall, list[str]] = {}
        for call, rows in self._known.items():
            statuses[call] = []
            for row in rows:
                time = now if row.time is None else row.time
                given = StoredReward(row.id, users[row.user], row.arm, row.reward, time)
                found = stored.setdefault(row.id, given)
                if found is given:
                    written.append(given)
                    added.add((given.user_id, given.arm_id), given.reward, time, row.half_life)
                    statuses[call].append(RECORDED)
                else:
                    same = found == given or (row.time is None and found[:4] == given[:4])
                    statuses[call].append(ALREADY if same else CONFLICT)
        transaction.add_past(sorted(written))
        return statuses


def _known(current: CurrentModels, call: PastCall) -> list[Known]:
    model = current.model(call.problem)
    places = model.places([row.arm for row in call.rewards], None) or []
    return [
        Known(
            _digest(model.problem, row.id),
            row.user,
            model.ids[place],
            row.reward,
            row.time,
            model.half_life,
        )
        for row, place in zip(call.rewards, places, strict=True)
    ]


def _digest(problem: str, text: str) -> bytes:
    """Return an id as it is stored: 16 bytes, whatever it is, of one problem."""
    return blake2b(f"{problem}\0{text}".encode(), digest_size=16).digest()
