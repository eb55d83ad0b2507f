"""Group commit: calls of many threads share transactions, without a thread of its own."""

from collections.abc import Callable
from threading import Lock
from typing import Any

from lobandits.service.calls import Call

MOST_CALLS = 1024


class GroupCommit:
    """Runs calls in groups, one group at a time.

    The first thread to come leads: it runs all calls that have come, while others queue. Then the
    first of those leads. So a lone caller waits for nobody, and many callers share a commit.

    Parameters
    ----------
    run
        Runs a list of calls, and finishes or fails each one.
    """

    def __init__(self, run: Callable[[list[Call[Any]]], None]) -> None:
        self._run = run
        self._lock = Lock()
        self._waiting: list[Call[Any]] = []
        self._busy = False

    def submit(self, call: Call[Any]) -> None:
        """Return when the call is done."""
        with self._lock:
            self._waiting.append(call)
            leads = not self._busy
            self._busy = True
        if not leads:
            call.wait()
        if not call.done:
            self._lead(call)

    def _lead(self, mine: Call[Any]) -> None:
        with self._lock:
            group = self._waiting[:MOST_CALLS]
            del self._waiting[:MOST_CALLS]
        try:
            self._run(group)
        except BaseException as error:
            for call in group:
                if not call.done:
                    call.fail(error)
        with self._lock:
            successor = self._waiting[0] if self._waiting else None
            self._busy = successor is not None
        for call in group:
            if call is not mine:
                call.wake()
        if successor is not None:
            successor.wake()
