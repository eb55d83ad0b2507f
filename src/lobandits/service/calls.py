"""Calls: checked requests that wait for their transaction, and then have an outcome.

Threads that come together share one, by `GroupCommit`.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from lobandits.errors import LobInputError
from lobandits.service.decision import (
    Decision,
    check_allowed,
    check_context,
    check_decision,
    check_id,
    check_name,
    check_problem,
    check_shown,
    check_user,
)
from lobandits.service.errors import InvalidRequestError, UnknownDecisionError
from lobandits.statistics.rewards import LARGEST, is_reward

LATEST = 253_402_300_799  # seconds: the end of the year 9999
MOST_ITEMS = 2_000  # decisions and rewards of one transaction, unless a single call has more

T = TypeVar("T")


class Request(NamedTuple):
    """A request for a decision."""

    user: str
    allowed: tuple[str, ...] | None
    id: bytes | None
    context: str | None
    problem: str | None
    shown: str | None = None


class Reward(NamedTuple):
    """A reward of a decision, None if no decision can have the id that was given."""

    decision: bytes | None
    reward: float


class PastReward(NamedTuple):
    """A reward of the time before the service, with an id of the caller's."""

    id: str
    user: str
    arm: str
    reward: float
    time: int | None = None  # microseconds since 1970


def read_requests(requests: Iterable[Any]) -> list[Request]:
    """Return requests: each a user's name, or a mapping with its fields."""
    return [_request(request) for request in _listed("requests", requests)]


def read_rewards(rewards: Iterable[Any]) -> list[Reward]:
    """Return rewards: each a pair (decision, reward), or a mapping with both."""
    return [_reward(reward) for reward in _listed("rewards", rewards)]


def read_past_rewards(rewards: Iterable[Any]) -> list[PastReward]:
    """Return past rewards: each a mapping with id, user, arm, reward and perhaps time."""
    return [_past_reward(reward) for reward in _listed("rewards", rewards)]


def _past_reward(reward: Any) -> PastReward:
    key, user, arm, value, time = _fields(reward, "past reward", *PastReward._fields)
    if not isinstance(arm, str):
        raise InvalidRequestError("arm", f"an arm must be a string, got {type(arm).__name__}")
    name, who = check_name("id", key), check_user(user)
    return PastReward(name, who, arm, check_reward(value), check_time(time))


def _request(request: Any) -> Request:
    if isinstance(request, str | int):
        return Request(check_user(request), None, None, None, None)
    user, allowed, key, context, problem, shown = _fields(request, "request", *Request._fields)
    return Request(
        user=check_user(user),
        allowed=check_allowed(allowed),
        id=None if key is None else check_id(key),
        context=check_context(context),
        problem=check_problem(problem),
        shown=check_shown(shown),
    )


def _reward(reward: Any) -> Reward:
    if isinstance(reward, tuple) and len(reward) == 2:
        decision, value = reward
    else:
        decision, value = _fields(reward, "reward", "decision", "reward")
    number = check_reward(value)
    try:
        return Reward(check_decision(decision), number)
    except UnknownDecisionError:
        return Reward(None, number)


def _fields(item: Any, noun: str, *names: str) -> list[Any]:
    if not isinstance(item, dict | Mapping) or not item.keys() <= set(names):
        raise LobInputError(f"a {noun} must have the fields {', '.join(names)}, got {item!r:.80}")
    return [item.get(name) for name in names]


def _listed(noun: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise LobInputError(f"{noun} must be a list, got {type(items).__name__}")
    return list(items)


def check_time(time: Any) -> int | None:
    """Return a time in microseconds, if it is seconds since 1970, ISO 8601 text, or a date."""
    if time is None:
        return None
    try:
        if isinstance(time, str):
            time = datetime.fromisoformat(time)
        if isinstance(time, datetime):
            time = time.replace(tzinfo=time.tzinfo or UTC).timestamp()
        if not isinstance(time, bool) and abs(time) <= LATEST:
            return round(float(time) * 1e6)
    except (TypeError, ValueError):
        pass
    raise InvalidRequestError(
        "time", f"a time must be seconds since 1970, or text such as 2026-01-31, got {time!r:.40}"
    )


def check_reward(reward: Any) -> float:
    """Return a reward as a float, if it is one that policies take; true is 1, false is 0."""
    if not is_reward(reward):
        got = reward if isinstance(reward, float) else type(reward).__name__
        raise InvalidRequestError(
            "reward", f"a reward must be a finite number of at most {LARGEST:g}, got {got}"
        )
    return float(reward)


class Call(Generic[T]):
    """Something to be done in one transaction, and its outcome; ``size`` counts its items."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.value: T | None = None
        self.error: BaseException | None = None
        self.done = False
        self._signal = Lock()
        self._signal.acquire()

    def wait(self) -> None:
        """Sleep until `wake`."""
        self._signal.acquire()

    def wake(self) -> None:
        """Wake the thread that waits; once."""
        self._signal.release()

    def finish(self, value: T) -> None:
        """Set the outcome."""
        self.value, self.done = value, True

    def fail(self, error: BaseException) -> None:
        """Set the error that is the outcome."""
        self.error, self.done = error, True

    def result(self) -> T:
        """Return the outcome, or raise it."""
        if self.error is not None:
            raise self.error
        assert self.done
        return self.value  # type: ignore[return-value]


Run = Callable[[list[Call[Any]]], None]  # runs calls and sets their outcomes: DecisionService.run


class DecisionCall(Call[list[Decision]]):
    """Decisions that are made together, or not at all."""

    def __init__(self, requests: Iterable[Any]) -> None:
        self.requests = read_requests(requests)
        super().__init__(len(self.requests))


class RewardCall(Call[list[str]]):
    """Rewards, each with its own status; ``default`` ones stand in for those that never came.

    With ``problems``, decisions of others are unknown.
    """

    def __init__(
        self,
        rewards: Iterable[Any],
        default: bool = False,
        problems: Collection[str] | None = None,
    ) -> None:
        self.rewards = read_rewards(rewards)
        self.default = default
        self.problems = problems
        super().__init__(len(self.rewards))


class PastCall(Call[list[str]]):
    """Rewards without decisions, each with its own status."""

    def __init__(self, rewards: Iterable[Any], problem: str | None = None) -> None:
        self.rewards = read_past_rewards(rewards)
        self.problem = check_problem(problem)
        super().__init__(len(self.rewards))


def take(waiting: deque[Call[Any]], most: int) -> list[Call[Any]]:
    """Remove and return the calls that come first, at least one, with up to ``most`` items."""
    group = [waiting.popleft()]
    items = group[0].size
    while waiting and items + waiting[0].size <= most:
        group.append(waiting.popleft())
        items += group[-1].size
    return group


class GroupCommit:
    """Lets threads wait for calls, which are run in groups, one group at a time.

    The first thread to come leads: it runs all calls that have come, while others queue. Then the
    first of those leads. So a lone caller waits for nobody, and many callers share a commit.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._lock = Lock()
        self._waiting: deque[Call[Any]] = deque()
        self._busy = False

    def submit(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise it."""
        with self._lock:
            self._waiting.append(call)
            leads = not self._busy
            self._busy = True
        if not leads:
            call.wait()
        if not call.done:
            self._lead(call)
        return call.result()

    def _lead(self, mine: Call[Any]) -> None:
        with self._lock:
            group = take(self._waiting, MOST_ITEMS)
        try:
            self._run(group)
        finally:
            with self._lock:
                successor = self._waiting[0] if self._waiting else None
                self._busy = successor is not None
            for call in group:
                if call is not mine:
                    call.wake()
            if successor is not None:
                successor.wake()
