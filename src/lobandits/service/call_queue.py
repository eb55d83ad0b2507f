"""The queue behind all decisions and rewards: what comes together is done in one transaction.

Threads and coroutines put in calls, which are futures; one thread at a time runs them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Generic, TypeVar

from lobandits.service.decision import Decision
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.requests import DecisionRequest, PastReward, RewardReport

MOST_TOGETHER = 1_000  # decisions and rewards of one transaction, unless a single call has more
MOST_WAITING = 10_000  # calls of coroutines
LONGEST_WAIT = 8.5  # seconds of a coroutine for an outcome, if the store gives none
LOOK_SECONDS = 0.5
QUIET_TURNS = 3
MOST_TURNS = 50

T = TypeVar("T")


class Call(Generic[T]):
    """Something to be done in one transaction, and its outcome; ``items`` are what it asks.

    A future as in `concurrent.futures`, for one waiting thread, at a tenth of the cost.
    """

    def __init__(self, items: Sequence[Any]) -> None:
        self.items = items
        self.late = False  # nobody waits for it any more
        self.value: T | None = None
        self.error: BaseException | None = None
        self._done = Lock()  # held until there is an outcome
        self._done.acquire()

    def set_result(self, value: T) -> None:
        """Set the outcome, once."""
        self.value = value
        self._done.release()

    def set_exception(self, error: BaseException) -> None:
        """Set the error that is the outcome, once."""
        self.error = error
        self._done.release()

    def done(self) -> bool:
        """Whether there is an outcome."""
        return not self._done.locked()

    def result(self) -> T:
        """Wait for the outcome; return it, or raise it."""
        with self._done:
            pass
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]


class DecisionCall(Call[list[Decision]]):
    """Decisions that are made together, or not at all."""

    items: Sequence[DecisionRequest]


class RewardCall(Call[list[str]]):
    """Rewards, each with its own status; ``default`` ones stand in for those that never came.

    With ``problems``, decisions of others are unknown.
    """

    items: Sequence[RewardReport]

    def __init__(
        self,
        items: Sequence[RewardReport],
        default: bool = False,
        problems: Collection[str] | None = None,
    ) -> None:
        super().__init__(items)
        self.default = default
        self.problems = problems


class PastCall(Call[list[str]]):
    """Rewards without decisions, each with its own status."""

    items: Sequence[PastReward]

    def __init__(self, items: Sequence[PastReward], problem: str | None = None) -> None:
        super().__init__(items)
        self.problem = problem


Outcomes = dict[Call[Any], Any]  # of each call, a value or an error


class CallQueue:
    """Lets threads and coroutines wait for calls, which one thread runs in groups.

    Of coroutines, a group starts when their event loop has been quiet for a few turns (microseconds
    each): then all requests that have arrived are in it, and the loop does not fight with the
    thread for the interpreter lock, which would halve the throughput.

    No coroutine waits without end: a call that has no outcome in time is refused. It may be
    repeated, since what it wrote after all is known by its ids.
    """

    def __init__(self, run: Callable[[list[Call[Any]]], None]) -> None:
        self._run = run  # runs calls, and sets their outcomes
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._turn = Lock()  # held by whoever runs calls
        self._waiting: deque[Call[Any]] = deque()
        # Whom to wake after each call, and since when they wait: in the order of arrival.
        self._awaited: dict[Call[Any], tuple[asyncio.Future[None], float]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starts = False  # the thread is about to run a group
        self._busy = False  # with calls of coroutines
        self._looks = False  # for calls that are late
        self._closed = False

    def ask(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise it; a lone caller runs it itself."""
        if self._closed:
            raise StoreUnavailableError("the service is closed; open it again")
        if not self._waiting and self._turn.acquire(blocking=False):
            try:
                self._run([call])
            finally:
                self._turn.release()
        else:
            self._waiting.append(call)
            self._start()
        return call.result()

    def _start(self) -> None:
        """Let the thread run a group, unless it is about to."""
        if not self._starts:
            self._starts = True
            self._thread.submit(self._run_group)

    async def answer(self, call: Call[T]) -> T:
        """Return the outcome of a call to a coroutine, or raise it."""
        if self._closed:
            raise StoreUnavailableError("the server is stopping; try again")
        if len(self._waiting) >= MOST_WAITING:
            raise StoreUnavailableError("too many requests are waiting; try again later")
        self._loop = loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._awaited[call] = done, loop.time()
        self._waiting.append(call)
        if not self._busy:
            self._busy = True
            self._watch()
        if not self._looks:
            self._looks = True
            loop.call_later(LOOK_SECONDS, self._refuse_late)
        await done
        return call.result()

    def _watch(self, seen: int = 0, quiet: int = 0, turns: int = 0) -> None:
        """Start a group once no call has come for some turns of the loop."""
        count = len(self._waiting)
        quiet = quiet + 1 if count == seen else 0
        if quiet == QUIET_TURNS or turns == MOST_TURNS or count >= MOST_TOGETHER:
            self._start()
        elif self._loop is not None:
            self._loop.call_soon(self._watch, count, quiet, turns + 1)

    def _run_group(self) -> None:
        """Run the calls that came first, in the thread; there may be none left."""
        with self._turn:
            self._starts = False
            group = take(self._waiting, MOST_TOGETHER)
            try:
                if wanted := [call for call in group if not call.late]:
                    self._run(wanted)
            finally:
                if self._loop is not None and not self._loop.is_closed():
                    self._loop.call_soon_threadsafe(self._wake, group)
                elif self._waiting:
                    self._start()

    def _wake(self, group: list[Call[Any]]) -> None:
        """Wake the coroutines whose calls are done, and go on with what has come meanwhile."""
        for call in group:
            done, _ = self._awaited.pop(call, (None, 0.0))
            if done is not None and not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._watch()

    def _refuse_late(self) -> None:
        """Refuse calls that have waited too long; those that did not start never will."""
        assert self._loop is not None
        oldest = self._loop.time() - LONGEST_WAIT
        for call, (done, came) in self._awaited.items():
            if came > oldest:
                break
            call.late = True
            if not done.done():
                done.set_exception(StoreUnavailableError("the store does not answer; try again"))
        self._looks = bool(self._awaited)
        if self._looks:
            self._loop.call_later(LOOK_SECONDS, self._refuse_late)

    def close(self) -> None:
        """Refuse further calls, and end the thread after what is under way."""
        self._closed = True
        self._thread.shutdown(wait=False)


def take(waiting: deque[Call[Any]], most: int) -> list[Call[Any]]:
    """Remove and return the calls that come first, the first of them whatever it holds."""
    group: list[Call[Any]] = []
    size = 0
    while waiting and (not group or size + len(waiting[0].items) <= most):
        group.append(waiting.popleft())
        size += len(group[-1].items)
    return group
