"""Decisions in a transaction: those that exist are returned again, the others are made."""

from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import IntArray
from lobandits.errors import LobError
from lobandits.orders.contexts import without_context
from lobandits.service.call_queue import DecisionCall
from lobandits.service.control_group import CALLER, CONTROL, MODEL, Rules
from lobandits.service.current_model import CurrentModels
from lobandits.service.decision import Decision, new_ids
from lobandits.service.errors import IdConflictError
from lobandits.service.model import Model, Places, Table
from lobandits.service.store.transaction import NewDecision, StoredDecision, Transaction

NOBODY = (None, None, None)  # no group, no comparison, no advice


class Wanted(NamedTuple):
    """A request for a decision, with its id, its problem's model, and its arms in that."""

    user: str
    id: bytes
    named: bool  # whether the caller gave the id
    model: Model
    places: Places
    context: str | None
    shown: int | None  # the place of the arm that the caller has chosen itself

    @property
    def owner(self) -> tuple[str, str]:
        """The user and the problem."""
        return self.user, self.model.problem

    def named_here(self, arm: str) -> str:
        """Return an arm's name in the context that was asked for."""
        return arm if self.context is None else without_context(arm, self.context)


USER, MODEL_OF = attrgetter("user"), attrgetter("model")  # of a request


class Decided(NamedTuple):
    """The decisions or the error of each call, and what was written of new ones."""

    outcomes: dict[DecisionCall, list[Decision] | LobError]
    made: list[NewDecision]


class DecisionMaker:
    """Makes the decisions of some calls, with the models that are current now.

    Every request has its id before the transaction: so another try finds what an earlier one has
    written.
    """

    def __init__(
        self,
        current: CurrentModels,
        rng: np.random.Generator,
        calls: Iterable[DecisionCall],
        rules: Rules,
    ) -> None:
        self._current, self._names, self._rng, self._rules = current, current.names, rng, rules
        self._wanted: dict[DecisionCall, list[Wanted]] = {}
        self._users: dict[str, int] = {}
        self._tried = False
        for call in calls:
            try:
                self._wanted[call] = self._want(call)
            except LobError as error:
                call.set_exception(error)

    def _want(self, call: DecisionCall) -> list[Wanted]:
        models = {name: self._current.model(name) for name in {r.problem for r in call.requests}}
        wants = []
        for request, fresh in zip(call.requests, new_ids(call.size), strict=True):
            model, context, key = models[request.problem], request.context, request.id
            places = model.places(request.allowed, context)
            shown = getattr(request, "shown", None)  # only an apprentice's requests may have it
            place = None if shown is None else model.place(shown, context)
            id_, named = key or fresh, key is not None
            wants.append(Wanted(request.user, id_, named, model, places, context, place))
        return wants

    def find_users(self, transaction: Transaction) -> None:
        """Find the users that exist, before decisions are locked: as forgetting does."""
        names = {want.user: None for wants in self._wanted.values() for want in wants}
        self._users = transaction.find_users(list(names))

    def decide(self, transaction: Transaction, now: int) -> Decided:
        """Return decisions that exist, make and write the others."""
        if not self._wanted:
            return Decided({}, [])
        every = [want for wants in self._wanted.values() for want in wants]
        known = [want.id for want in every if self._tried or want.named]
        self._tried = True
        stored = transaction.find_decisions(known)
        if not {row.user_id for row in stored.values()} <= set(self._users.values()):
            self.find_users(transaction)  # somebody came with a decision after the first look
        fresh, stolen = self._accept(stored, self._users)
        made, written = self._make(transaction, fresh, self._users, now)
        if stored:
            told = (want for want in every if want.id in stored)
            made |= {want.id: self._told(want, stored[want.id]) for want in told}
        outcomes = {
            call: stolen.get(call) or [made[want.id] for want in wants]
            for call, wants in self._wanted.items()
        }
        return Decided(outcomes, written)

    def _accept(
        self, stored: dict[bytes, StoredDecision], users: dict[str, int]
    ) -> tuple[list[Wanted], dict[DecisionCall, LobError]]:
        """Return what is wanted anew, and errors of calls with ids of other users or problems."""
        names = {number: name for name, number in users.items()}
        owners = {
            row.id: (names.get(row.user_id), self._names.problem(row.model))
            for row in stored.values()
        }
        fresh: list[Wanted] = []
        stolen: dict[DecisionCall, LobError] = {}
        for call, wants in self._wanted.items():
            if not stored and not any(want.named for want in wants):
                fresh += wants  # with ids that nobody else can have
                continue
            mine: dict[bytes, Wanted] = {}
            for want in wants:
                first = mine.setdefault(want.id, want)
                owner = owners.get(want.id) or (None if first is want else first.owner)
                if owner is not None and owner != want.owner:
                    stolen[call] = IdConflictError(
                        f"the id {want.id.hex()} is of another user's or problem's decision"
                    )
                    break
            else:
                fresh += [want for want in mine.values() if want.id not in owners]
                owners |= {want.id: want.owner for want in mine.values() if want.named}
        return fresh, stolen

    def _make(
        self, transaction: Transaction, wants: list[Wanted], users: dict[str, int], now: int
    ) -> tuple[dict[bytes, Decision], list[NewDecision]]:
        """Decide for users, new ones too, and write the decisions."""
        if not wants:
            return {}, []
        names = dict.fromkeys(map(USER, wants))
        if new := [name for name in names if name not in users]:
            users = users | transaction.add_users(new)
        row_of = dict(zip(names, range(len(names)), strict=True))
        numbers = [users[name] for name in names]
        groups = _by_model(wants)
        limits = [model.limit for model in groups if model.limit is not None]
        stored = transaction.read_statistics(numbers, min(limits, default=None))
        written: list[NewDecision] = []
        made: dict[bytes, Decision] = {}
        for model, mine in groups.items():
            table = model.table(numbers, stored, now)
            rows = np.array([row_of[want.user] for want in mine])
            arms, version = model.policy.arms, model.name
            for want, place, row in self._choose(model, mine, table, rows, users, now):
                written.append(row)
                arm = arms[place] if want.context is None else want.named_here(arms[place])
                made[want.id] = Decision(want.id.hex(), arm, row.probability, version)
        transaction.add_decisions(written)
        return made, written

    def _choose(
        self,
        model: Model,
        wants: list[Wanted],
        table: Table,
        rows: IntArray,
        users: dict[str, int],
        now: int,
    ) -> Iterator[tuple[Wanted, int, NewDecision]]:
        """Yield each request, the place of its arm, and what is to be written of it."""
        rules = self._rules.of(model.problem)
        comparison = None if rules.control is None else rules.control.stored.id
        controlled = [False] * len(wants)
        if comparison is not None:
            controlled = [want.shown is None and rules.in_control(want.user) for want in wants]
        shown, sets = [want.shown for want in wants], [want.places for want in wants]
        choices = model.choose(table, rows, sets, self._rng, rules, controlled, shown)
        for want, control, drawn, played, chance in zip(wants, controlled, *choices, strict=True):
            user, arm = users[want.user], model.ids[played]
            new = NewDecision(want.id, user, arm, chance, model.version, now, *NOBODY)
            if want.shown is not None:
                new = new._replace(control_group=CALLER, advised=model.ids[drawn])
            elif comparison is not None:
                group = CONTROL if control else MODEL
                new = new._replace(control_group=group, comparison_id=comparison)
            yield want, played, new

    def _told(self, want: Wanted, row: StoredDecision) -> Decision:
        """Return a stored decision as it was returned before."""
        arm, model = self._names.arm(row.arm_id), self._names.model(row.model)
        return Decision(row.id.hex(), want.named_here(arm), row.probability, model)


def _by_model(wants: list[Wanted]) -> dict[Model, list[Wanted]]:
    """Return the requests of each model."""
    models = dict.fromkeys(map(MODEL_OF, wants))
    if len(models) == 1:
        return {wants[0].model: wants}
    return {model: [want for want in wants if want.model is model] for model in models}
