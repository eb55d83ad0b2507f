"""Calls: requests, checked before anything is written, that wait for their transaction."""

import math
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from lobandits.errors import LobInputError
from lobandits.policies.rewards import LARGEST
from lobandits.service.errors import InvalidRequestError, UnknownDecisionError

MOST_CHARACTERS = 256
MOST_ALLOWED = 10_000
ID = re.compile(r"[0-9a-f]{32}")

MOST_ITEMS = 2_000  # decisions and rewards of one transaction, unless a single call has more

T = TypeVar("T")


class Decision(NamedTuple):
    """An arm for a user.

    Attributes
    ----------
    id : str
        What a reward refers to.
    arm : str
        The arm to play.
    probability : float
        The chance that the arm had: the propensity that off-policy estimates need.
    model : str
        The model that decided.

    Examples
    --------
    >>> Decision("018f3a", "drama", 0.25, "1-4f2d").probability
    0.25
    """

    id: str
    arm: str
    probability: float
    model: str


class Request(NamedTuple):
    """A checked request for a decision."""

    user: str
    allowed: tuple[str, ...] | None
    id: bytes | None


class Reward(NamedTuple):
    """A checked reward; ``decision`` is None if no decision can have that id."""

    decision: bytes | None
    reward: float


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
        self.requests = [_request(request) for request in _listed("requests", requests)]
        super().__init__(len(self.requests))


class RewardCall(Call[list[str]]):
    """Rewards, each with its own status; ``default`` ones stand in for those that never came."""

    def __init__(self, rewards: Iterable[Any], default: bool = False) -> None:
        self.rewards = [_reward(reward) for reward in _listed("rewards", rewards)]
        self.default = default
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


def _request(request: Any) -> Request:
    """Return a request: a user's name, or a mapping with user, allowed and id."""
    if isinstance(request, str):
        return Request(check_user(request), None, None)
    user, allowed, key = _fields(request, "request", "user", "allowed", "id")
    return Request(check_user(user), _allowed(allowed), None if key is None else _id(key))


def _reward(reward: Any) -> Reward:
    """Return a reward: a pair (decision, reward), or a mapping with both."""
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
    if not isinstance(item, dict) or not item.keys() <= set(names):
        raise LobInputError(f"a {noun} must have the fields {', '.join(names)}, got {item!r:.80}")
    return [item.get(name) for name in names]


def _listed(noun: str, items: Any) -> list[Any]:
    if isinstance(items, str | bytes | dict) or not isinstance(items, Iterable):
        raise LobInputError(f"{noun} must be a list, got {type(items).__name__}")
    return list(items)


def check_user(user: Any) -> str:
    """Return a user's name: any text of 1 to 256 characters without NUL."""
    if not isinstance(user, str):
        raise InvalidRequestError("user", f"a user must be a string, got {type(user).__name__}")
    if not 1 <= len(user) <= MOST_CHARACTERS:
        raise InvalidRequestError(
            "user", f"a user must have 1 to {MOST_CHARACTERS} characters, got {len(user)}"
        )
    try:
        user.encode()
    except UnicodeEncodeError:
        raise InvalidRequestError("user", "a user must be valid Unicode text") from None
    if "\0" in user:
        raise InvalidRequestError("user", "a user must not contain the character NUL")
    return user


def check_decision(value: Any) -> bytes:
    """Return a decision's id as 16 bytes; what cannot be one is unknown."""
    if not isinstance(value, str):
        raise InvalidRequestError(
            "decision", f"a decision is named by its id, got {type(value).__name__}"
        )
    if not ID.fullmatch(value):
        raise UnknownDecisionError(f"unknown decision {value[:40]!r}")
    return bytes.fromhex(value)


def check_reward(reward: Any) -> float:
    """Return a reward as a finite float of at most 1e40."""
    if isinstance(reward, bool | str | bytes):
        raise InvalidRequestError("reward", f"a reward must be a number, got {reward!r:.40}")
    try:
        value = float(reward)
    except (TypeError, ValueError, OverflowError):
        raise InvalidRequestError("reward", "a reward must be a finite number") from None
    if not math.fabs(value) <= LARGEST:
        raise InvalidRequestError(
            "reward", f"a reward must be a finite number of at most {LARGEST:g}, got {value!r}"
        )
    return value


def _id(value: Any) -> bytes:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise InvalidRequestError(
            "id", "an id must be 32 hexadecimal digits in lower case, as new_id() makes them"
        )
    return bytes.fromhex(value)


def _allowed(allowed: Any) -> tuple[str, ...] | None:
    if allowed is None:
        return None
    if isinstance(allowed, str) or not isinstance(allowed, Iterable):
        raise InvalidRequestError("allowed", "allowed must be a list of arms")
    names = tuple(allowed)
    if not names or len(names) > MOST_ALLOWED:
        raise InvalidRequestError(
            "allowed", f"allowed must name 1 to {MOST_ALLOWED} arms, got {len(names)}"
        )
    if not all(isinstance(name, str) for name in names):
        raise InvalidRequestError("allowed", "allowed must name arms by strings")
    return names


def new_ids(count: int) -> list[bytes]:
    """Return fresh ids: 48 bits of milliseconds, then 74 random bits (UUID version 7)."""
    stamp = time.time_ns() // 1_000_000
    noise = np.frombuffer(os.urandom(16 * count), np.uint64).reshape(count, 2)
    noise = noise & np.array([0xFFF, 2**62 - 1], np.uint64)
    fixed = np.array([stamp << 16 | 7 << 12, 2 << 62], np.uint64)  # 7: version, 2: variant
    ids: list[bytes] = (noise | fixed).astype(">u8").view("V16")[:, 0].tolist()
    return ids


def new_id() -> str:
    """Return a fresh id for a decision; a call that repeats it decides once."""
    return new_ids(1)[0].hex()
