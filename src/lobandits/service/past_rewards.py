"""Rewards without decisions, of the time before the service: each counts once, by its id."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from lobandits.service.call_queue import Outcomes, PastCall
from lobandits.service.current_model import CurrentModels
from lobandits.service.recent import Added
from lobandits.service.rewarding import ALREADY, CONFLICT, RECORDED
from lobandits.service.store.transaction import StoredReward, Transaction


class Known(NamedTuple):
    """A past reward, with its id as it is stored and its arm's number."""

    id: bytes
    user: str
    arm: int
    reward: float
    time: int | None
    half_life: int | None


def record_past(
    transaction: Transaction,
    calls: Mapping[PastCall, Sequence[Known]],
    users: dict[str, int],
    now: int,
    added: Added,
) -> Outcomes:
    """Write rewards that are new, add them to ``added``, and return the statuses of all.

    One without a time counts as of now. Users that are new get their numbers in ``users``.
    """
    every = [row for rows in calls.values() for row in rows]
    if new := {row.user for row in every} - users.keys():
        users |= transaction.add_users(new)
    stored = transaction.find_past(sorted({row.id for row in every}))
    written: list[StoredReward] = []
    statuses: Outcomes = {}
    for call, rows in calls.items():
        statuses[call] = []
        for row in rows:
            time = now if row.time is None else row.time
            given = StoredReward(row.id, users[row.user], row.arm, row.reward, time)
            known = stored.setdefault(row.id, given)
            if known is given:
                written.append(given)
                added.add((given.user_id, given.arm_id), given.reward, time, row.half_life)
                statuses[call].append(RECORDED)
            else:
                same = known == given or (row.time is None and known[:4] == given[:4])
                statuses[call].append(ALREADY if same else CONFLICT)
    transaction.add_past(sorted(written))
    return statuses


def known_rewards(current: CurrentModels, call: PastCall) -> list[Known]:
    """Return the rewards of a call as they are stored; the model must have their arms."""
    model = current.model(call.problem)
    places = model.places([row.arm for row in call.items], None) or []
    return [
        Known(
            _digest(model.problem, row.id),
            row.user,
            model.ids[place],
            row.reward,
            row.time,
            model.half_life,
        )
        for row, place in zip(call.items, places, strict=True)
    ]


def _digest(problem: str, text: str) -> bytes:
    """Return an id as it is stored: 16 bytes, whatever it is, of one problem."""
    return blake2b(f"{problem}\0{text}".encode(), digest_size=16).digest()
