"""Rewards of decisions: each counts once, with the time of its decision, however late it comes."""

from collections.abc import Sequence

from lobandits.service.call_queue import Outcomes, RewardCall
from lobandits.service.current_model import CurrentModels
from lobandits.service.decision import stored_id
from lobandits.service.errors import (
    DecisionExpiredError,
    RewardConflictError,
    UnknownDecisionError,
)
from lobandits.service.observers.observer import Rewarded
from lobandits.service.recent import Added
from lobandits.service.store.transaction import StoredDecision, Transaction

RECORDED, ALREADY, CONFLICT = "recorded", "already recorded", "conflict"
UNKNOWN, EXPIRED = "unknown decision", "expired"


def record_rewards(
    transaction: Transaction,
    current: CurrentModels,
    calls: Sequence[RewardCall],
    now: int,
    added: Added,
) -> tuple[Outcomes, list[Rewarded]]:
    """Write the rewards of decisions that have none, and add them to ``added``.

    Return the statuses of all, and the decisions that have a reward now.
    """
    names = current.names
    keys = {call: [stored_id(report.decision) for report in call.items] for call in calls}
    ids = {key for some in keys.values() for key in some if key}
    stored = transaction.find_decisions(sorted(ids), lock=True)
    outcomes: Outcomes = {}
    rewarded: list[Rewarded] = []
    written: list[tuple[float, int | None, int]] = []
    for call in calls:
        when = None if call.default else now
        statuses = outcomes[call] = []
        for key, report in zip(keys[call], call.items, strict=True):
            decision, reward = stored.get(key) if key else None, report.reward
            if decision and call.problems is not None:
                mine = names.problem(decision.model) in call.problems
                decision = decision if mine else None
            statuses.append(_status(decision, reward))
            if decision is not None and decision.reward is None:
                written.append((reward, when, decision.number))
                rewarded.append(Rewarded(decision, reward, call.default))
                stored[decision.id] = decision._replace(reward=reward, rewarded=when)
                fades = current.half_life(names.problem(decision.model))
                added.add((decision.user_id, decision.arm_id), reward, decision.time, fades)
    transaction.set_rewards(written)
    return outcomes, rewarded


def _status(decision: StoredDecision | None, reward: float) -> str:
    if decision is None:
        return UNKNOWN
    if decision.reward is None:
        return RECORDED
    if decision.rewarded is None:
        return EXPIRED
    return ALREADY if decision.reward == reward else CONFLICT


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
