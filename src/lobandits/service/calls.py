"""Calls: checked requests that wait for their transaction, and then have an outcome."""

from collections import deque
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any, Generic, TypeVar

from lobandits.service.decision import Decision
from lobandits.service.requests import read_requests, read_rewards

T = TypeVar("T")


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
    """Rewards, each with its own status; ``default`` ones stand in for those that never came."""

    def __init__(self, rewards: Iterable[Any], default: bool = False) -> None:
        self.rewards = read_rewards(rewards)
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
