"""Decisions in a transaction: those that exist are returned again, the others are made."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.errors import LobError
from lobandits.orders.contexts import without_context
from lobandits.service.call_queue import DecisionCall, Outcomes
from lobandits.service.current_model import CurrentModels
from lobandits.service.decision import Decision, new_ids
from lobandits.service.errors import IdConflictError
from lobandits.service.known_features import Known, check_names, describe, newest
from lobandits.service.model import Model, Places
from lobandits.service.observers.activity import CALLER, CONTROL, MODEL
from lobandits.service.observers.control_group import ControlGroup
from lobandits.service.served_policy import drawn, odds_of, with_floor
from lobandits.service.store.models import StoredNames
from lobandits.service.store.transaction import NewDecision, StoredDecision, Transaction
from lobandits.statistics import State


class Rules(NamedTuple):
    """How a process decides beyond its models: a floor of exploration, and a control group.

    ``explore`` of all choices are uniform among the allowed arms. ``control`` is the control
    group of the problem ``problem``.
    """

    explore: float = 0.0
    control: ControlGroup | None = None
    problem: str = ""

    def of(self, problem: str) -> "Rules":
        """Return the rules for a problem."""
        return self if problem == self.problem else self._replace(control=None)

    def in_control(self, user: str) -> bool:
        """Whether the control group decides for a user."""
        return self.control is not None and self.control.holds(user)

    def odds(
        self, model: Model, state: State, allowed: BoolArray, controlled: Sequence[bool]
    ) -> FloatArray:
        """Return the odds of each arm for users in this state, as they are served."""
        odds = odds_of(model.policy, model.policy.seen(state), allowed)
        if self.control is not None and any(controlled):
            mine = np.flatnonzero(controlled)
            every = np.broadcast_to(allowed, odds.shape)
            odds = odds.copy()
            sums = state.counts[mine], state.sums[mine]  # of a control group, nothing fades
            odds[mine] = self.control.odds(model.policy.arms, *sums, every[mine])
        return with_floor(odds, allowed, self.explore) if self.explore else odds


USER = attrgetter("user")  # of a request


class Wanted(NamedTuple):
    """A request for a decision, with its id, its problem's model, and its arms in that."""

    user: str
    id: bytes
    named: bool  # whether the caller gave the id
    model: Model
    places: Places
    context: str | None
    shown: int | None  # the place of the arm that the caller has chosen itself
    features: Known | None = None  # what the caller says of the user

    @property
    def owner(self) -> tuple[str, str]:
        """The user and the problem."""
        return self.user, self.model.problem

    def decision(self, arm: str, probability: float, model: str) -> Decision:
        """Return the decision; the arm is named without the context that was asked for."""
        name = arm if self.context is None else without_context(arm, self.context)
        return Decision(self.id.hex(), name, probability, model)


class Decided(NamedTuple):
    """The decisions or the error of each call, and what was written of new ones."""

    outcomes: Outcomes
    made: list[NewDecision]


class DecisionMaker:
    """Makes decisions with the models that are current."""

    def __init__(self, current: CurrentModels, rules: Rules, rng: np.random.Generator) -> None:
        self._current, self._rules, self._rng = current, rules, rng

    def wanted(self, call: DecisionCall) -> list[Wanted]:
        """Return what a call wants of the models that are current now.

        Every request has its id before the transaction: so another try finds what an earlier one
        has written.
        """
        models = {name: self._current.model(name) for name in {r.problem for r in call.items}}
        wants = []
        for request, fresh in zip(call.items, new_ids(len(call.items)), strict=True):
            model, context, key = models[request.problem], request.context, request.id
            places = model.places(request.allowed, context)
            shown = getattr(request, "shown", None)  # only an apprentice's requests may have it
            place = None if shown is None else model.place(shown, context)
            given, named = key or fresh, key is not None
            check_names(model.policy, request.features)
            wants.append(
                Wanted(request.user, given, named, model, places, context, place, request.features)
            )
        return wants

    def decide(
        self,
        transaction: Transaction,
        calls: Mapping[DecisionCall, list[Wanted]],
        users: dict[str, int],
        now: int,
        again: bool,
    ) -> Decided:
        """Return decisions that exist, make and write the others.

        Those exist whose id is known: to the caller, or ``again`` to an earlier try. Users that
        are new get their numbers in ``users``.
        """
        every = [want for wants in calls.values() for want in wants]
        stolen: dict[DecisionCall, LobError] = {}
        stored: dict[bytes, StoredDecision] = {}
        fresh, names = every, self._current.names
        if known := [want.id for want in every if again or want.named]:
            stored = transaction.find_decisions(known)
            if not {row.user_id for row in stored.values()} <= set(users.values()):
                users |= transaction.find_users([want.user for want in every])  # who came since
            fresh, stolen = _divide(calls, stored, users, names)
        made, written = self._make(transaction, fresh, users, now) if fresh else ({}, [])
        for want in every if stored else ():
            if row := stored.get(want.id):
                arm, model = names.arm(row.arm_id), names.model(row.model)
                made[want.id] = want.decision(arm, row.probability, model)
        outcomes: Outcomes = {
            call: stolen.get(call) or [made[want.id] for want in wants]
            for call, wants in calls.items()
        }
        return Decided(outcomes, written)

    def _make(
        self, transaction: Transaction, wants: list[Wanted], users: dict[str, int], now: int
    ) -> tuple[dict[bytes, Decision], list[NewDecision]]:
        """Decide for users, new ones too, and write the decisions."""
        row_of = {name: row for row, name in enumerate(dict.fromkeys(map(USER, wants)))}
        if new := [name for name in row_of if name not in users]:
            users |= transaction.add_users(new)
        numbers = [users[name] for name in row_of]
        groups: dict[Model, list[Wanted]] = {}
        for want in wants:
            groups.setdefault(want.model, []).append(want)
        fading = any(model.half_life is not None for model in groups)
        stored = transaction.read_statistics(numbers, fading)
        known: dict[int, Known] = {}
        sent = [(users[want.user], want.features) for want in wants]
        if any(features for _, features in sent) or any(m.policy.feature_names for m in groups):
            known = newest(transaction, numbers, sent)
        made: dict[bytes, Decision] = {}
        written: list[NewDecision] = []
        for model, mine in groups.items():
            state = model.state(numbers, stored, now)
            describe(model.policy, state, numbers, known)
            rows = [row_of[want.user] for want in mine]
            if rows != list(range(len(numbers))):
                state = state.take(rows)
            arms, name = model.policy.arms, model.name
            for want, place, row in self._choose(model, mine, state, users, now):
                made[want.id] = want.decision(arms[place], row.probability, name)
                written.append(row)
        transaction.add_decisions(written)
        return made, written

    def _choose(
        self,
        model: Model,
        wants: list[Wanted],
        state: State,
        users: Mapping[str, int],
        now: int,
    ) -> list[tuple[Wanted, int, NewDecision]]:
        """Return each request, the place of its arm, and what is to be written of it.

        Request i is of user i of the state.
        """
        rules = self._rules.of(model.problem)
        comparison = None if rules.control is None else rules.control.stored.id
        controlled = [False] * len(wants)
        if comparison is not None:
            controlled = [want.shown is None and rules.in_control(want.user) for want in wants]
        odds = rules.odds(model, state, model.allowed([want.places for want in wants]), controlled)
        chosen, chances = (array.tolist() for array in drawn(odds, self._rng))
        every = []
        for i, (want, place, chance) in enumerate(zip(wants, chosen, chances, strict=True)):
            group: tuple[str | None, int | None, int | None] = (None, None, None)
            if want.shown is not None:
                group = CALLER, None, model.ids[place]
                place, chance = want.shown, float(odds[i, want.shown] / odds[i].sum())
            elif comparison is not None:
                group = (CONTROL if controlled[i] else MODEL), comparison, None
            user, arm, version = users[want.user], model.ids[place], model.version
            row = NewDecision(want.id, user, arm, chance, version, now, *group)
            every.append((want, place, row))
        return every


def _divide(
    calls: Mapping[DecisionCall, list[Wanted]],
    stored: Mapping[bytes, StoredDecision],
    users: Mapping[str, int],
    names: StoredNames,
) -> tuple[list[Wanted], dict[DecisionCall, LobError]]:
    """Return what is wanted anew, and errors of calls with ids of other users or problems."""
    user_of = {number: name for name, number in users.items()}
    owners = {
        row.id: (user_of.get(row.user_id), names.problem(row.model)) for row in stored.values()
    }
    fresh: list[Wanted] = []
    stolen: dict[DecisionCall, LobError] = {}
    for call, wants in calls.items():
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
