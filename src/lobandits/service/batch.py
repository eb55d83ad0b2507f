"""The one transaction: rewards are counted, then decisions are made, and all is written."""

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from lobandits.service.call_queue import Call, DecisionCall, PastCall, RewardCall
from lobandits.service.control_group import Comparisons, Rules, add_advice, add_groups, add_trials
from lobandits.service.current_model import CurrentModels
from lobandits.service.deciding import DecisionMaker
from lobandits.service.decision import stored_id
from lobandits.service.errors import (
    DecisionExpiredError,
    RewardConflictError,
    UnknownDecisionError,
)
from lobandits.service.past_rewards import (
    ALREADY,
    CONFLICT,
    RECORDED,
    PastRewards,
    Sums,
    add_reward,
)
from lobandits.service.recent import Added
from lobandits.service.store import Store
from lobandits.service.store.tables import MINUTE, microseconds
from lobandits.service.store.transaction import StoredDecision, Transaction

UNKNOWN, EXPIRED = "unknown decision", "expired"
ARM = attrgetter("arm_id")  # of a decision


class Recorded(NamedTuple):
    """The statuses of each call's rewards, and what each arm earned, without default rewards.

    ``rewarded`` are the decisions that have a reward now, also the default.
    """

    outcomes: dict[RewardCall, list[str]]
    earned: Sums
    rewarded: list[tuple[StoredDecision, float]]


def record_rewards(
    transaction: Transaction,
    current: CurrentModels,
    calls: Sequence[RewardCall],
    now: int,
    added: Added,
) -> Recorded:
    """Write the rewards of decisions that have none, and add them to ``added``.

    They count with the times of their decisions, however late they come.
    """
    names = current.names
    keys = {call: [stored_id(report.decision) for report in call.rewards] for call in calls}
    ids = {key for some in keys.values() for key in some if key}
    once = len(ids) == sum(call.size for call in calls)
    stored = transaction.find_decisions(sorted(ids), lock=True)
    written: list[tuple[float, int | None, int]] = []
    recorded = Recorded({}, {}, [])
    for call in calls:
        when = None if call.default else now
        statuses = recorded.outcomes[call] = []
        for key, report in zip(keys[call], call.rewards, strict=True):
            reward = report.reward
            found = stored.get(key) if key else None
            if found and call.problems is not None:
                found = found if names.problem(found.model) in call.problems else None
            statuses.append(_status(found, reward))
            if found is not None and found.reward is None:
                written.append((reward, when, found.number))
                recorded.rewarded.append((found, reward))
                if not once:
                    stored[found.id] = found._replace(reward=reward, rewarded=when)
                fades = current.half_life(names.problem(found.model))
                added.add((found.user_id, found.arm_id), reward, found.time, fades)
                if not call.default:
                    add_reward(recorded.earned, found.arm_id, reward)
    transaction.set_rewards(written)
    return recorded


def _status(found: StoredDecision | None, reward: float) -> str:
    if found is None:
        return UNKNOWN
    if found.reward is None:
        return RECORDED
    if found.rewarded is None:
        return EXPIRED
    return ALREADY if found.reward == reward else CONFLICT


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


Outcomes = Mapping[Any, Any]  # of each call, a value or an error


class Batch:
    """Calls that are done together; ``writer`` tells the processes of a store apart."""

    def __init__(
        self,
        current: CurrentModels,
        rng: np.random.Generator,
        writer: int,
        calls: Sequence[Call[Any]],
        rules: Rules,
        comparisons: Comparisons,
    ) -> None:
        self._writer, self._comparisons = writer, comparisons
        self._current = current
        self._rewards = [call for call in calls if isinstance(call, RewardCall)]
        decisions = [call for call in calls if isinstance(call, DecisionCall)]
        self._maker = DecisionMaker(current, rng, decisions, rules)
        self._past = PastRewards(current, [call for call in calls if isinstance(call, PastCall)])

    def run(self, store: Store) -> None:
        """Do all in one transaction, and set the calls' outcomes after its commit."""
        outcomes = store.write(lambda connection: self._do(store.transaction(connection)))
        for call, outcome in outcomes.items():
            if isinstance(outcome, Exception):
                call.set_exception(outcome)
            else:
                call.set_result(outcome)

    def _do(self, transaction: Transaction) -> Outcomes:
        now = microseconds()
        self._maker.find_users(transaction)
        added = Added()
        past = self._past.record(transaction, now, added)
        recorded = record_rewards(transaction, self._current, self._rewards, now, added)
        transaction.add_statistics(added.plain())
        transaction.add_fading_statistics(added.fading())
        decided = self._maker.decide(transaction, now)
        made, rewarded = decided.made, recorded.rewarded
        played, earned = Counter(map(ARM, made)), recorded.earned
        transaction.add_activity(
            (now // MINUTE, arm, self._writer, played[arm], *earned.get(arm, (0, 0.0)))
            for arm in {*played, *earned}
        )
        add_groups(transaction, now, self._writer, made, rewarded)
        add_advice(transaction, self._writer, made, rewarded)
        add_trials(transaction, now, rewarded, self._comparisons)
        return {**past, **recorded.outcomes, **decided.outcomes}
