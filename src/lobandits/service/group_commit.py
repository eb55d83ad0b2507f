"""Threads that share commits."""

from collections import deque
from threading import Lock
from typing import Any, TypeVar

from lobandits.service.calls import Call, Run, take

MOST_ITEMS = 2_000  # decisions and rewards of one transaction, unless a single call has more

T = TypeVar("T")


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
