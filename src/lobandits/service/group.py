"""Group commit: calls of many threads share transactions, without a thread of its own."""

from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any

from lobandits.service.calls import Call

MOST_ITEMS = 2000  # decisions and rewards of one transaction, unless a single call has more


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
        self._waiting: deque[Call[Any]] = deque()
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
        group = self._take()
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

    def _take(self) -> list[Call[Any]]:
        """Return the calls that come first, at least one."""
        group: list[Call[Any]] = []
        items = 0
        with self._lock:
            while self._waiting and (not group or items + self._waiting[0].size <= MOST_ITEMS):
                group.append(self._waiting.popleft())
                items += group[-1].size
        return group
