"""The queue behind all decisions: coroutines await calls, one thread runs them together."""

import asyncio
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lobandits.service.calls import Call, Run, take
from lobandits.service.errors import StoreUnavailableError

MOST_TOGETHER = 1_000  # decisions and rewards of one transaction, unless a single call has more
MOST_WAITING = 10_000  # calls
LONGEST_WAIT = 8.5  # seconds for an outcome, if the store gives none
LOOK_SECONDS = 0.5
QUIET_TURNS = 3
MOST_TURNS = 50

T = TypeVar("T")


class CallQueue:
    """Lets coroutines await calls, which one thread runs in groups.

    A group starts when the event loop has been quiet for a few turns (microseconds each): then
    all requests that have arrived are in it, and the loop does not fight with the thread for the
    interpreter lock, which would halve the throughput.

    Nobody waits without end: a call that has no outcome in time is refused. It may be repeated,
    since what it wrote after all is known by its ids.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._waiting: deque[Call[Any]] = deque()
        # Whom to tell of each outcome, and since when they wait: in the order of arrival.
        self._futures: dict[Call[Any], tuple[asyncio.Future[None], float]] = {}
        self._busy = False
        self._closed = False

    async def __call__(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise it."""
        if self._closed:
            raise StoreUnavailableError("the server is stopping; try again")
        if len(self._waiting) >= MOST_WAITING:
            raise StoreUnavailableError("too many requests are waiting; try again later")
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        self._futures[call] = done, loop.time()
        self._waiting.append(call)
        if not self._busy:
            self._busy = True
            self._watch(loop)
        await done
        return call.result()

    def _watch(
        self, loop: asyncio.AbstractEventLoop, seen: int = 0, quiet: int = 0, turns: int = 0
    ) -> None:
        """Start a group once no call has come for some turns of the loop."""
        count = len(self._waiting)
        quiet = quiet + 1 if count == seen else 0
        if quiet == QUIET_TURNS or turns == MOST_TURNS or count >= MOST_TOGETHER:
            group = take(self._waiting, MOST_TOGETHER)
            running = loop.run_in_executor(self._thread, self._run, group)
            running.add_done_callback(lambda _: self._finish(loop, group))
            self._alarm = loop.call_later(LOOK_SECONDS, self._refuse_late, loop)
        else:
            loop.call_soon(self._watch, loop, count, quiet, turns + 1)

    def _finish(self, loop: asyncio.AbstractEventLoop, group: list[Call[Any]]) -> None:
        self._alarm.cancel()
        for call in group:
            done, _ = self._futures.pop(call)
            if not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._watch(loop)

    def _refuse_late(self, loop: asyncio.AbstractEventLoop) -> None:
        """Refuse calls that have waited too long; those that did not start never will."""
        oldest = loop.time() - LONGEST_WAIT
        for done, came in self._futures.values():
            if came > oldest:
                break
            if not done.done():
                done.set_exception(StoreUnavailableError("the store does not answer; try again"))
        while self._waiting and self._futures[self._waiting[0]][1] <= oldest:
            del self._futures[self._waiting.popleft()]
        self._alarm = loop.call_later(LOOK_SECONDS, self._refuse_late, loop)

    def close(self) -> None:
        """Refuse further calls, and end the thread after what is under way."""
        self._closed = True
        self._thread.shutdown(wait=False)
