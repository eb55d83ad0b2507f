"""The one transaction: rewards are counted, then decisions are made, and all is written."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lobandits.service.calls import Call, DecisionCall, RewardCall
from lobandits.service.clock import MINUTE, microseconds
from lobandits.service.current_model import CurrentModel
from lobandits.service.deciding import DecisionMaker
from lobandits.service.recording import record_rewards
from lobandits.service.store import Store
from lobandits.service.store.transaction import Transaction

Outcomes = Mapping[Any, Any]  # of each call, a value or an error


class Batch:
    """Calls that are done together; ``writer`` tells the processes of a store apart."""

    def __init__(
        self,
        current: CurrentModel,
        rng: np.random.Generator,
        writer: int,
        calls: Sequence[Call[Any]],
    ) -> None:
        self._writer = writer
        self._rewards = [call for call in calls if isinstance(call, RewardCall)]
        decisions = [call for call in calls if isinstance(call, DecisionCall)]
        self._maker = DecisionMaker(current, rng, decisions)

    def run(self, store: Store) -> None:
        """Do all in one transaction, and set the calls' outcomes after its commit."""
        outcomes = store.write(lambda connection: self._do(store.transaction(connection)))
        for call, outcome in outcomes.items():
            if isinstance(outcome, Exception):
                call.fail(outcome)
            else:
                call.finish(outcome)

    def _do(self, transaction: Transaction) -> Outcomes:
        now = microseconds()
        recorded = record_rewards(transaction, self._rewards, now)
        decided = self._maker.decide(transaction, now)
        played, earned = decided.played, recorded.earned
        transaction.add_activity(
            (now // MINUTE, arm, self._writer, played[arm], *earned.get(arm, (0, 0.0)))
            for arm in {*played, *earned}
        )
        return {**recorded.outcomes, **decided.outcomes}
