"""Decisions: those that exist are returned again, the others are made and written."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from lobandits.errors import LobError
from lobandits.service.calls import Decision, DecisionCall, Request
from lobandits.service.checks import new_ids
from lobandits.service.deciding import choose, table_of
from lobandits.service.errors import IdConflictError
from lobandits.service.model import Model
from lobandits.service.names import Names
from lobandits.service.store.transaction import StoredDecision, Transaction


class Wanted(NamedTuple):
    """A request for a decision, with its id and its arms in the model."""

    request: Request
    id: bytes
    key: tuple[int, ...] | None


class Maker:
    """Makes the decisions of some calls.

    Attributes
    ----------
    outcomes : list of (DecisionCall, decisions or error)
        Set by `work`; they hold once the transaction is committed.
    """

    def __init__(
        self, model: Model, names: Names, rng: np.random.Generator, calls: Iterable[DecisionCall]
    ) -> None:
        self._model, self._names, self._rng = model, names, rng
        self._refused: list[tuple[DecisionCall, Exception]] = []
        self._wanted: list[tuple[DecisionCall, list[Wanted]]] = []
        self.outcomes: list[tuple[DecisionCall, list[Decision] | Exception]] = []
        for call in calls:
            try:
                self._wanted.append((call, self._prepare(call)))
            except LobError as error:
                self._refused.append((call, error))

    def _prepare(self, call: DecisionCall) -> list[Wanted]:
        """Give every request an id, once for all tries, and find its arms."""
        return [
            Wanted(request, request.id or fresh, self._model.key(request.allowed))
            for request, fresh in zip(call.requests, new_ids(call.size), strict=True)
        ]

    def work(self, transaction: Transaction, now: int, again: bool) -> Counter[int]:
        """Set the outcomes; return how many decisions were made for each arm.

        ``again`` says that an earlier try may have been committed.
        """
        self.outcomes = [*self._refused]
        every = [want for _, wants in self._wanted for want in wants]
        if not every:
            self.outcomes += [(call, []) for call, _ in self._wanted]
            return Counter()
        known = [want.id for want in every if again or want.request.id]
        stored = transaction.find_decisions(known) if known else {}
        users = transaction.find_users(list({want.request.user: None for want in every}))
        accepted, fresh = self._accept(stored, users)
        made, played = self._make(transaction, list(fresh.values()), users, now)
        made |= {row.id: self._told(row) for row in stored.values()}
        self.outcomes += [(call, [made[want.id] for want in wants]) for call, wants in accepted]
        return played

    def _accept(
        self, stored: dict[bytes, StoredDecision], users: dict[str, int]
    ) -> tuple[list[tuple[DecisionCall, list[Wanted]]], dict[bytes, Wanted]]:
        """Return the calls whose ids are free or their own, and what they want anew, by id."""
        owners = {row.id: row.user_id for row in stored.values()}
        fresh: dict[bytes, Wanted] = {}
        accepted = []
        for call, wants in self._wanted:
            mine: dict[bytes, Wanted] = {}
            for want in wants:
                other = fresh.get(want.id) or mine.setdefault(want.id, want)
                user = want.request.user
                if owners.get(want.id, users.get(user)) != users.get(user) or (
                    other.request.user != user
                ):
                    error = IdConflictError(f"the id {want.id.hex()} is of another user's decision")
                    self.outcomes.append((call, error))
                    break
            else:
                accepted.append((call, wants))
                fresh |= {key: want for key, want in mine.items() if key not in stored}
        return accepted, fresh

    def _make(
        self, transaction: Transaction, wants: Sequence[Wanted], users: dict[str, int], now: int
    ) -> tuple[dict[bytes, Decision], Counter[int]]:
        """Decide for users, new ones too, and write the decisions."""
        if not wants:
            return {}, Counter()
        model = self._model
        place_of = {want.request.user: 0 for want in wants}
        missing = [name for name in place_of if name not in users]
        if missing:
            users = users | transaction.add_users(missing)
        for row, name in enumerate(place_of):
            place_of[name] = row
        numbers = [users[name] for name in place_of]
        table = table_of(model, numbers, transaction.read_statistics(numbers))
        rows = [place_of[want.request.user] for want in wants]
        keys = [want.key for want in wants]
        places, chances = choose(model, table, np.array(rows), keys, self._rng)
        chosen = [model.ids[place] for place in places.tolist()]
        probabilities = chances.tolist()
        transaction.add_decisions(
            [
                (want.id, numbers[row], arm, chance, model.version, now)
                for want, row, arm, chance in zip(wants, rows, chosen, probabilities, strict=True)
            ]
        )
        made = {
            want.id: Decision(want.id.hex(), model.policy.arms[place], chance, model.name)
            for want, place, chance in zip(wants, places.tolist(), probabilities, strict=True)
        }
        return made, Counter(chosen)

    def _told(self, row: StoredDecision) -> Decision:
        """Return a stored decision as it was returned before."""
        names = self._names
        return Decision(
            row.id.hex(), names.arm(row.arm_id), row.probability, names.model(row.model)
        )
