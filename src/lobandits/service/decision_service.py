"""The service itself: decides for users and counts their rewards; HTTP only translates it."""

import math
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from typing import Any

import numpy as np

from lobandits.basics.checks import fraction, not_negative, whole
from lobandits.errors import LobError, LobInputError
from lobandits.policies import Policy
from lobandits.service.batch import Batch
from lobandits.service.call_queue import Call, CallQueue, DecisionCall, PastCall, RewardCall
from lobandits.service.current_model import CurrentModels
from lobandits.service.deciding import DecisionMaker, Rules
from lobandits.service.decision import Decision
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.known_features import describe
from lobandits.service.model import Model
from lobandits.service.observers.activity import (
    KEPT_MINUTES,
    Activity,
    activity_report,
    drop_old_minutes,
)
from lobandits.service.observers.apprentice import Apprentice
from lobandits.service.observers.control_group import (
    Control,
    ControlGroup,
    Trials,
    comparison_report,
    newest_comparison,
)
from lobandits.service.reports.log import PAGE, LogRow, log_rows
from lobandits.service.reports.user import explanation, user_report
from lobandits.service.requests import (
    Context,
    PastReward,
    Problem,
    Reward,
    RewardReport,
    ShownRequest,
    User,
    checked,
    read,
)
from lobandits.service.rewarding import RECORDED, counted
from lobandits.service.served_policy import encoded
from lobandits.service.store import Store, open_store
from lobandits.service.store.history import overdue, prune
from lobandits.service.store.models import DEFAULT_PROBLEM
from lobandits.service.store.tables import microseconds
from lobandits.service.store.users import forget, user_features, user_statistics


class DecisionService:
    """Decides for users and records their rewards, durably and exactly once.

    A decision is that of ``policy.choose``, among the allowed arms, on the user's
    counts and sums in the store. A call returns after its commit. Calls of many threads share
    commits; make one service per process.

    Parameters
    ----------
    policy
        The policy to serve; it becomes the newest model of the store, unless it is that already.
        None serves the newest model. Policies whose state is counts and sums are served.
    store
        A store, or its URL; see `open_store`.
    reward_wait
        Seconds after which `expire` gives an unrewarded decision the default reward; None: never.
    default_reward
        That reward.
    keep
        Seconds for which `expire` keeps decisions; None: for ever. The statistics stay.
    problem
        The problem of ``policy``, and the one that is meant where a call names none. A store may
        have many, each with its own models, arms and statistics; users are the same in all. A
        problem comes into being with its first model (`put_model`).
    explore
        The share of choices that are uniform among the allowed arms: every one of k then has a
        chance of at least ``explore / k``, so that logs support off-policy estimates.
    control
        A control group of ``problem``: for its users another policy decides, and `comparison`
        says which does better. True goes on with the store's newest; see `Control`.
    seed
        Seeds the choices, for tests; by default they are drawn from the system's entropy.

    Examples
    --------
    >>> import tempfile
    >>> from lobandits.policies import UCB
    >>> folder = tempfile.TemporaryDirectory()
    >>> policy = UCB(2, sigma=1.0, arms=("tea", "coffee"))
    >>> service = DecisionService(policy, f"sqlite:///{folder.name}/lob.db", seed=0)
    >>> decision = service.decide("ada")
    >>> decision.arm, decision.probability
    ('coffee', 0.5)
    >>> service.record(decision.id, 1.0), service.record(decision.id, 1.0)
    ('recorded', 'already recorded')
    >>> service.close(); folder.cleanup()
    """

    def __init__(
        self,
        policy: Policy | None,
        store: Store | str,
        *,
        reward_wait: float | None = None,
        default_reward: float = 0.0,
        keep: float | None = None,
        problem: str = DEFAULT_PROBLEM,
        explore: float = 0.0,
        control: Control | bool = False,
        seed: int | None = None,
    ) -> None:
        explore = fraction("explore", explore)
        self.reward_wait = None if reward_wait is None else not_negative("reward_wait", reward_wait)
        self.default_reward = checked("reward", Reward, default_reward)
        self.keep = None if keep is None else not_negative("keep", keep)
        if self.keep is not None and self.keep < (self.reward_wait or 0.0):
            raise LobInputError(
                f"keep is {self.keep:g} seconds, but decisions wait for rewards for "
                f"{self.reward_wait:g}; keep them for longer"
            )
        self.problem = checked("problem", Problem, problem)
        if policy is not None:
            encoded(policy)  # refuse it before a store is opened
        self.store = open_store(store) if isinstance(store, str) else store
        try:
            self._current = CurrentModels(self.store, policy, self.problem)
            self.rules = Rules(explore, self._control_group(control), self.problem)
        except BaseException:
            if isinstance(store, str):
                self.store.close()
            raise
        self._maker = DecisionMaker(self._current, self.rules, np.random.default_rng(seed))
        writer = secrets.randbelow(2**31)  # tells the processes of a store apart
        self.observers = Activity(writer), Trials(self.store), Apprentice(writer)
        self.queue = CallQueue(self.run)
        self._compared: dict[str, tuple[float, dict[str, Any]]] = {}

    @property
    def model(self) -> str:
        """The name of the model that decides now."""
        return self._current.model().name

    @property
    def policy(self) -> Policy:
        """The policy that decides now."""
        return self._current.model().policy

    @property
    def problems(self) -> dict[str, str]:
        """The name of the model that decides now in each problem."""
        return {name: self._current.model(name).name for name in self._current.problems}

    def served(self, problem: str | None = None) -> tuple[str, Policy]:
        """Return the name of the model that decides now in a problem, and its policy."""
        model = self._model(problem)
        return model.name, model.policy

    def decide(
        self,
        user: str,
        allowed: Iterable[str] | None = None,
        id: str | None = None,  # noqa: A002
        context: str | None = None,
        problem: str | None = None,
        shown: str | None = None,
        features: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Return an arm for a user.

        Parameters
        ----------
        user
            Any text of 1 to 256 characters; a new user needs no announcement.
        allowed
            Names of the arms to choose from; by default all.
        id
            The decision's id, as `new_id` makes them. If a decision for this user has the id
            already, it is returned again: so a call may be repeated safely.
            If a decision for another user has it, that is an `IdConflictError`.
        context
            Choose among the arms of a context, which the model names ``"context: arm"``; the arm
            returned and those allowed are named without it.
        problem
            Choose among the arms of a problem, by default the service's own.
        shown
            The arm that your own system shows to the user: it is recorded, and its reward counts.
            The model only says silently what it would have shown (`comparison`); ``probability``
            is the chance that it would have been this arm.
        features
            What is known of the user, by name: text, numbers, true, false or None. It is kept with
            the user, the newest value of every name, and erased with the user. What a model does
            not know is refused, but by one that knows no features, for which it is kept.

        Raises `UnknownProblemError` if the problem has no model.
        """
        request = {"user": user, "allowed": allowed, "id": id, "context": context}
        more = {"problem": problem, "shown": shown, "features": features}
        return self.decide_many([request | more])[0]

    def decide_many(self, requests: Iterable[str | Mapping[str, Any]]) -> list[Decision]:
        """Return a decision for each request, all in one transaction or none.

        A request is a user's name, or a mapping with ``user`` and perhaps ``allowed``, ``id``,
        ``context``, ``problem`` and ``shown``.
        A user who comes twice is decided for twice on the same statistics.
        """
        return self.queue.ask(DecisionCall(read(ShownRequest, requests, ("user",))))

    def record(self, decision: str, reward: float) -> str:
        """Count the reward of a decision; return "recorded", or "already recorded".

        Rewards may come late and in any order. Only the first one counts.

        Raises `UnknownDecisionError` if there is no such decision, or its user was forgotten;
        `RewardConflictError` if it has another reward, `DecisionExpiredError` if the default.
        """
        (status,) = self.record_many([(decision, reward)])
        return counted(decision, status)

    def record_many(self, rewards: Iterable[tuple[str, float] | Mapping[str, Any]]) -> list[str]:
        """Count many rewards, pairs or mappings, in one transaction; return the status of each.

        It is "recorded", "already recorded", "unknown decision", "conflict" or "expired".
        """
        return self.queue.ask(RewardCall(read(RewardReport, rewards, ("decision", "reward"))))

    def add_history(
        self, rewards: Iterable[Mapping[str, Any]], problem: str | None = None
    ) -> list[str]:
        """Count rewards of the time before the service, in one transaction; return their statuses.

        A reward is a mapping with ``user``, ``arm``, ``reward`` and an ``id``, any text or number
        of the caller's by which it counts once: "recorded", then "already recorded", or "conflict"
        where the id has another user, arm, reward or time. Nothing is counted if the model lacks
        an arm (`UnknownArmError`). A ``time`` (seconds since 1970, ISO text or a datetime) says how
        recent it is, for models with a half-life; by default it is now.
        """
        return self.queue.ask(
            PastCall(read(PastReward, rewards), checked("problem", Problem | None, problem))
        )

    def run(self, calls: list[Call[Any]]) -> None:
        """Run calls in one transaction, and set the outcome of each."""
        try:
            self._current.follow()
            self._run_together(calls)
        except Exception as error:
            _fail(calls, error)
        except BaseException:
            _fail(calls, StoreUnavailableError("the service was interrupted; try again"))
            raise

    def _run_together(self, calls: list[Call[Any]]) -> None:
        """Run calls in one transaction; if that fails, each in its own: none pays for another."""
        try:
            batch = Batch(calls, self._current, self._maker, self.observers)
            outcomes = self.store.write(lambda c: batch.do(self.store.transaction(c)))
        except StoreUnavailableError:
            raise
        except Exception:
            if len(calls) == 1:
                raise
            for call in calls:
                if not call.done():  # the models refuse it
                    self.run([call])
        else:
            for call, outcome in outcomes.items():
                if isinstance(outcome, Exception):
                    call.set_exception(outcome)
                else:
                    call.set_result(outcome)

    def user(self, user: str, problem: str | None = None) -> dict[str, Any]:
        """Return a user's plays and mean reward of every arm, also of earlier models if played.

        Raises `UnknownUserError` if no decision was made for the user.
        """
        model = self._model(problem)
        statistics = user_statistics(self.store, model.problem, checked("user", User, user))
        report = user_report(model, self._current.names, user, statistics, microseconds())
        return report | {"features": user_features(self.store, checked("user", User, user))}

    def explain(
        self, user: str, context: str | None = None, problem: str | None = None
    ) -> dict[str, Any]:
        """Return `user`, with the state posterior and what speaks for each arm, as plain data.

        With a context, what speaks for its arms.
        """
        model = self._model(problem)
        places = model.places(
            None, None if context is None else checked("context", Context, context)
        )
        statistics = user_statistics(self.store, model.problem, checked("user", User, user))
        now = microseconds()
        report = user_report(model, self._current.names, user, statistics, now)
        rules = self.rules.of(model.problem)
        state = model.state([0], statistics, now)
        known = user_features(self.store, checked("user", User, user))
        describe(model.policy, state, [0], {0: known})
        report["features"] = known
        return report | explanation(model, state, places, rules, rules.in_control(user))

    def forget(self, user: str) -> int:
        """Delete a user's statistics and decisions, of all problems; return how many decisions."""
        return forget(self.store, checked("user", User, user))

    def log(self, after: int = 0, page: int = PAGE, problem: str | None = None) -> Iterator[LogRow]:
        """Yield the decisions numbered above ``after``, in the order in which they were stored.

        An export of any length blocks nobody. With several writers on PostgreSQL, a decision may
        become visible after one with a higher number, so continue an export after a row that was
        a minute old.
        """
        of = self._model(problem).problem
        return log_rows(self.store, self._current.names, of, after, page)

    def put_model(self, policy: Policy, problem: str | None = None) -> str:
        """Serve another policy from now on; return the name of its model.

        Statistics belong to arms' names: arms may be added, removed and reordered. Other
        processes follow within a second. A problem that has no model yet comes into being.
        """
        return self._current.put(policy, checked("problem", Problem | None, problem))

    def rollback(self, problem: str | None = None) -> str:
        """Serve the model before the newest, by withdrawing that; return its name.

        Older models that cannot be read are passed over. Raises `NoEarlierModelError` if none is
        left. Other processes follow within a second.
        """
        return self._current.rollback(checked("problem", Problem | None, problem))

    def reload(self) -> str:
        """Serve the newest model of the store; return its name."""
        return self._current.reload()

    def expire(self) -> int:
        """Give the default reward to decisions that waited too long; return how many.

        Call it from time to time, in any number of processes. Also forgets the activity of
        minutes more than 30 days ago, and decisions older than ``keep``: rewards of these are
        unknown from then on.
        """
        now = microseconds()
        drop_old_minutes(self.store, now)
        if self.keep is not None:
            prune(self.store, now - int(self.keep * 1e6))
        if self.reward_wait is None:
            return 0
        late = now - int(self.reward_wait * 1e6)
        given = 0
        for ids in overdue(self.store, late, now):
            default = [{"decision": key.hex(), "reward": self.default_reward} for key in ids]
            call = RewardCall(read(RewardReport, default), default=True)
            given += self.queue.ask(call).count(RECORDED)
        return given

    def activity(
        self, minutes: int = 60, sample: int = 200, problem: str | None = None
    ) -> dict[str, Any]:
        """Return what a dashboard shows of the last ``minutes``, as plain data.

        How sure the states are is that of the users of the last ``sample`` decisions.
        """
        minutes = whole("minutes", minutes, most=KEPT_MINUTES)
        sample = whole("sample", sample, most=10_000)
        model = self._model(problem)
        names = self._current.names
        report = activity_report(self.store, names, model, microseconds(), minutes, sample)
        return report | {"unreadable": self.unreadable}

    def comparison(self, problem: str | None = None, age: float = 0.0) -> dict[str, Any]:
        """Return how the model's users and those of the control group do, as plain data.

        Of the newest control group, also if this process has none; with what an apprentice would
        have changed. It may be up to ``age`` seconds old.
        """
        name = self._model(problem).problem
        when, report = self._compared.get(name, (-math.inf, {}))
        if time.monotonic() - when > age:
            report = comparison_report(self.store, self._current.names, name)
            self._compared[name] = time.monotonic(), report
        return report

    def ready(self) -> None:
        """Return if the store can be written, else raise `StoreUnavailableError`."""
        self.store.check_writes()
        self._current.follow()

    @property
    def unreadable(self) -> list[str]:
        """The newest models that cannot be read; the log says why, and older ones decide."""
        return self._current.unreadable()

    def close(self) -> None:
        """Finish what is under way, and close the store's connections."""
        self.queue.close()
        self.store.close()

    def __enter__(self) -> "DecisionService":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"DecisionService({self.policy!r}, {self.store.url!r})"

    def _control_group(self, control: Control | bool) -> ControlGroup | None:
        """Return the control group of the service's own problem."""
        if isinstance(control, Control):
            control.put(self.store, self.problem)
        stored = newest_comparison(self.store, self.problem) if control else None
        return None if stored is None else ControlGroup(stored)

    def _model(self, problem: str | None) -> Model:
        self._current.follow()
        return self._current.model(checked("problem", Problem | None, problem))


def _fail(calls: Iterable[Call[Any]], error: Exception) -> None:
    for call in calls:
        if not call.done():
            mine = copy(error) if isinstance(error, LobError) else error  # each thread its own
            mine.__cause__ = error.__cause__
            call.set_exception(mine)
