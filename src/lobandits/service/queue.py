"""From an event loop to the store: calls that arrive while it writes are written together next."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lobandits.service.calls import Call
from lobandits.service.errors import StoreUnavailableError

T = TypeVar("T")

MOST_TOGETHER = 1_000
MOST_WAITING = 10_000


class CallQueue:
    """Lets coroutines await calls, which one thread runs in groups.

    One group is under way at a time; calls that come meanwhile form the next one. So a lone call
    waits for nothing, and groups grow with the load.

    Parameters
    ----------
    run
        Runs a list of calls and sets their outcomes: `DecisionService.run`.
    """

    def __init__(self, run: Callable[[list[Call[Any]]], None]) -> None:
        self._run = run
        self._thread = ThreadPoolExecutor(1, "lob-store")
        self._waiting: list[tuple[Call[Any], asyncio.Future[None]]] = []
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
            loop.call_soon(self._next, loop)  # after others that this turn of the loop brings
        await done
        return call.result()

    def _next(self, loop: asyncio.AbstractEventLoop) -> None:
        group = self._waiting[:MOST_TOGETHER]
        del self._waiting[:MOST_TOGETHER]
        run = loop.run_in_executor(self._thread, self._run, [call for call, _ in group])
        run.add_done_callback(lambda _: self._finish(loop, group))

    def _finish(
        self, loop: asyncio.AbstractEventLoop, group: list[tuple[Call[Any], asyncio.Future[None]]]
    ) -> None:
        for _, done in group:
            if not done.done():
                done.set_result(None)
        self._busy = bool(self._waiting)
        if self._busy:
            self._next(loop)

    def close(self) -> None:
        """End the thread after what is under way."""
        self._thread.shutdown()
