"""Calls: checked requests that wait for their transaction, and their outcomes."""

from collections.abc import Iterable
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from lobandits.errors import LobInputError
from lobandits.service.checks import check_allowed, check_decision, check_id, check_reward
from lobandits.service.checks import check_user as checked_user
from lobandits.service.errors import UnknownDecisionError

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
        """Set an error as the outcome."""
        self.error, self.done = error, True

    def result(self) -> T:
        """Return the outcome, or raise the error that it is."""
        if self.error is not None:
            raise self.error
        assert self.done
        return self.value  # type: ignore[return-value]


class DecisionCall(Call[list[Decision]]):
    """Decisions that are made together, or not at all."""

    def __init__(self, requests: Iterable[Any]) -> None:
        self.requests = [checked_request(request) for request in _listed("requests", requests)]
        super().__init__(len(self.requests))


class RewardCall(Call[list[str]]):
    """Rewards, each with its own status.

    ``default`` rewards stand in for those that never came.
    """

    def __init__(self, rewards: Iterable[Any], default: bool = False) -> None:
        self.rewards = [checked_reward(reward) for reward in _listed("rewards", rewards)]
        self.default = default
        super().__init__(len(self.rewards))


def checked_request(request: Any) -> Request:
    """Return a request: a user's name, or a mapping with user, allowed and id."""
    if isinstance(request, str):
        return Request(checked_user(request), None, None)
    user, allowed, key = _fields(request, "request", "user", "allowed", "id")
    return Request(
        checked_user(user), check_allowed(allowed), None if key is None else check_id(key)
    )


def checked_reward(reward: Any) -> Reward:
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
