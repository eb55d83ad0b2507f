"""Calls that come together, from threads or an event loop, are written together."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

from lobandits.service.calls import Call
from lobandits.service.errors import StoreUnavailableError

T = TypeVar("T")
Run = Callable[[list[Call[Any]]], None]  # runs calls and sets their outcomes: DecisionService.run

# Decisions and rewards of one transaction, unless a single call has more.
MOST_ITEMS = 2000  # of threads
MOST_TOGETHER = 1_000  # of an event loop
MOST_WAITING = 10_000  # calls
QUIET_TURNS = 3
MOST_TURNS = 50


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
        """Return the outcome of a call, or raise the error that it is."""
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
            group = _take(self._waiting, MOST_ITEMS)
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


class CallQueue:
    """Lets coroutines await calls, which one thread runs in groups.

    One group is under way at a time. It starts when the event loop has been quiet for a few
    turns (microseconds each): then all requests that have arrived are in it, and the loop does
    not fight with the thread for the interpreter lock, which would halve the throughput.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._waiting: deque[Call[Any]] = deque()
        self._futures: dict[Call[Any], asyncio.Future[None]] = {}
        self._busy = False

    async def __call__(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise the error that it is."""
        if len(self._waiting) >= MOST_WAITING:
            raise StoreUnavailableError("too many requests are waiting; try again later")
        loop = asyncio.get_running_loop()
        self._futures[call] = done = loop.create_future()
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
            group = _take(self._waiting, MOST_TOGETHER)
            running = loop.run_in_executor(self._thread, self._run, group)
            running.add_done_callback(lambda _: self._finish(loop, group))
        else:
            loop.call_soon(self._watch, loop, count, quiet, turns + 1)

    def _finish(self, loop: asyncio.AbstractEventLoop, group: list[Call[Any]]) -> None:
        for call in group:
            done = self._futures.pop(call)
            if not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._watch(loop)

    def close(self) -> None:
        """End the thread after what is under way."""
        self._thread.shutdown()


def _take(waiting: deque[Call[Any]], most: int) -> list[Call[Any]]:
    """Remove and return the calls that come first, at least one, with up to ``most`` items."""
    group = [waiting.popleft()]
    items = group[0].size
    while waiting and items + waiting[0].size <= most:
        group.append(waiting.popleft())
        items += group[-1].size
    return group
