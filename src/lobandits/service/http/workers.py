"""Several processes that serve on one socket."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

from starlette.types import ASGIApp

from lobandits.errors import LobError
from lobandits.service.http.server import LAST, Server, announce, handling, on_hangup

SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks and connections

logger = logging.getLogger(__name__)


class Workers:
    """Serves what ``make`` returns in ``n`` processes on one socket; one that dies is replaced.

    One pipe tells of processes that have started, by their ids, and of the signal to end, by 0.
    """

    def __init__(self, make: Callable[[], ASGIApp], listener: socket.socket, n: int) -> None:
        self.make = make
        self.listener = listener
        self.n = n
        self.processes: list[BaseProcess] = []
        self.hear, self.call = SPAWN.Pipe(duplex=False)
        self.serving: set[int] = set()  # processes that have started, by their ids
        self.ending = False

    def run(self) -> None:
        """Serve until a signal."""
        with handling(self._end):
            on_hangup(self._pass_hangup)
            try:
                self.processes = [self._start() for _ in range(self.n)]
                while not self.ending:
                    self._look()
            finally:
                self._stop()

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self.ending:
            self.ending = True
            self.call.send(0)

    def _pass_hangup(self) -> None:
        """Let those that serve read the keys again; others will read them when they start."""
        for process in self.processes:
            if process.pid in self.serving and process.is_alive():
                os.kill(process.pid, signal.SIGHUP)

    def _start(self) -> BaseProcess:
        process = SPAWN.Process(target=_work, args=(self.make, self.listener, self.call))
        process.start()
        return process

    def _look(self) -> None:
        """Wait until something happens: a process starts or dies, or a signal comes."""
        ends = [process.sentinel for process in self.processes]
        if self.hear in wait([self.hear, *ends]) and (process := self.hear.recv()):
            self.serving.add(process)
            if len(self.serving) == self.n:
                announce(self.listener, self.n)
        if not self.ending and any(process.exitcode is not None for process in self.processes):
            self._replace()

    def _replace(self) -> None:
        if len(self.serving) < self.n:
            raise LobError("a worker ended before it served; the lines above say why")
        time.sleep(1.0)
        for i, process in enumerate(self.processes):
            if process.exitcode is not None and not self.ending:
                fields = {"exit": process.exitcode}
                logger.warning("worker died and is replaced", extra={"fields": fields})
                self.processes[i] = self._start()

    def _stop(self) -> None:
        """Close our end of the listener, and wait until all processes have ended."""
        self.listener.close()
        for process in self.processes:
            process.terminate()
        last = time.monotonic() + LAST + 2
        for process in self.processes:
            process.join(max(0.0, last - time.monotonic()))
            process.kill()  # nothing happens to one that has ended
            process.join()
        if len(self.serving) >= self.n and any(process.exitcode == 1 for process in self.processes):
            raise LobError(
                "a worker ended before all its requests were answered; clients may repeat them"
            )


def _work(make: Callable[[], ASGIApp], listener: socket.socket, parent: Connection) -> None:
    """Serve as one of several processes, until a signal or the death of the parent."""
    threading.Thread(target=_follow_parent, daemon=True).start()
    Server(make(), lambda: parent.send(os.getpid())).run([listener])


def _follow_parent() -> None:
    """End this process, as a signal would, once its parent has died; also while it starts."""
    process = multiprocessing.parent_process()
    assert process is not None
    process.join()
    os.kill(os.getpid(), signal.SIGTERM)
