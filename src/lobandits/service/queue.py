"""From an event loop to the store: calls that come together are written together."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lobandits.service.calls import Call
from lobandits.service.errors import StoreUnavailableError

T = TypeVar("T")

MOST_TOGETHER = 1_000  # decisions and rewards of one transaction, unless a single call has more
MOST_WAITING = 10_000  # calls
QUIET_TURNS = 3
MOST_TURNS = 50

Waiting = tuple[Call[Any], asyncio.Future[None]]


class CallQueue:
    """Lets coroutines await calls, which one thread runs in groups.

    One group is under way at a time. It starts when the event loop has been quiet for a few
    turns (microseconds each): then all requests that have arrived are in it, and the loop does
    not fight with the thread for the interpreter lock, which would halve the throughput.

    Parameters
    ----------
    run
        Runs a list of calls and sets their outcomes: `DecisionService.run`.
    """

    def __init__(self, run: Callable[[list[Call[Any]]], None]) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._waiting: deque[Waiting] = deque()
        self._busy = False

    async def __call__(self, call: Call[T]) -> T:
        """Return the outcome of a call, or raise the error that it is."""
        if len(self._waiting) >= MOST_WAITING:
            raise StoreUnavailableError("too many requests are waiting; try again later")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._waiting.append((call, done))
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
            self._start(loop)
        else:
            loop.call_soon(self._watch, loop, count, quiet, turns + 1)

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        group = self._take()
        running = loop.run_in_executor(self._thread, self._run, [call for call, _ in group])
        running.add_done_callback(lambda _: self._finish(loop, group))

    def _take(self) -> list[Waiting]:
        """Return the calls that come first, at least one."""
        group = [self._waiting.popleft()]
        items = group[0][0].size
        while self._waiting and items + self._waiting[0][0].size <= MOST_TOGETHER:
            group.append(self._waiting.popleft())
            items += group[-1][0].size
        return group

    def _finish(self, loop: asyncio.AbstractEventLoop, group: list[Waiting]) -> None:
        for _, done in group:
            if not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._watch(loop)

    def close(self) -> None:
        """End the thread after what is under way."""
        self._thread.shutdown()
