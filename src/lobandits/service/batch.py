"""The one transaction of calls that come together: rewards are counted, then decisions made."""

from collections.abc import Sequence
from typing import Any

from lobandits.errors import LobError
from lobandits.service.call_queue import Call, DecisionCall, Outcomes, PastCall, RewardCall
from lobandits.service.current_model import CurrentModels
from lobandits.service.deciding import DecisionMaker, Wanted
from lobandits.service.observers.observer import Observer, Rewarded
from lobandits.service.past_rewards import Known, known_rewards, record_past
from lobandits.service.recent import Added
from lobandits.service.rewarding import record_rewards
from lobandits.service.store.tables import microseconds
from lobandits.service.store.transaction import NewDecision, Transaction


class Batch:
    """Calls that are done together; those that the models refuse fail before the transaction."""

    def __init__(
        self,
        calls: Sequence[Call[Any]],
        current: CurrentModels,
        maker: DecisionMaker,
        observers: Sequence[Observer],
    ) -> None:
        self._current, self._maker, self._observers = current, maker, observers
        self._rewards: list[RewardCall] = []
        self._past: dict[PastCall, list[Known]] = {}
        self._wanted: dict[DecisionCall, list[Wanted]] = {}
        self._tries = 0
        for call in calls:
            try:
                if isinstance(call, DecisionCall):
                    self._wanted[call] = maker.wanted(call)
                elif isinstance(call, RewardCall):
                    self._rewards.append(call)
                elif isinstance(call, PastCall):
                    self._past[call] = known_rewards(current, call)
            except LobError as error:
                call.set_exception(error)

    def do(self, transaction: Transaction) -> Outcomes:
        """Do all, and return the outcomes, which hold after the commit.

        Users are found first, as who forgets them does, and decisions locked then.
        """
        now = microseconds()
        self._tries += 1
        asked = [want.user for wants in self._wanted.values() for want in wants]
        asked += [row.user for rows in self._past.values() for row in rows]
        users = transaction.find_users(list(dict.fromkeys(asked))) if asked else {}
        outcomes: Outcomes = {}
        made: list[NewDecision] = []
        rewarded: list[Rewarded] = []
        if self._past or self._rewards:
            rewarded = self._count(transaction, users, now, outcomes)
        if self._wanted:
            again = self._tries > 1
            decided = self._maker.decide(transaction, self._wanted, users, now, again)
            outcomes.update(decided.outcomes)
            made = decided.made
        for observer in self._observers:
            observer.note(transaction, now, made, rewarded)
        return outcomes

    def _count(
        self, transaction: Transaction, users: dict[str, int], now: int, outcomes: Outcomes
    ) -> list[Rewarded]:
        """Count rewards, note their outcomes, and return the decisions that have one now."""
        added = Added()
        rewarded: list[Rewarded] = []
        if self._past:
            outcomes.update(record_past(transaction, self._past, users, now, added))
        if self._rewards:
            statuses, rewarded = record_rewards(
                transaction, self._current, self._rewards, now, added
            )
            outcomes.update(statuses)
        transaction.add_statistics(added.plain())
        transaction.add_fading_statistics(added.fading())
        return rewarded
