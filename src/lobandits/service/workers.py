"""Several processes on one port: started, watched, replaced and ended together."""

import multiprocessing
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType

from starlette.types import ASGIApp

from lobandits.errors import LobError
from lobandits.service.logs import LOG
from lobandits.service.server import GRACE, address, handling, work

SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks and connections
PAUSE = 1.0  # seconds before a process that died is replaced


@dataclass
class Worker:
    """One process, and the line on which it says that it started."""

    process: BaseProcess
    line: Connection
    started: bool = False


class Workers:
    """Serves what ``make`` returns in ``n`` processes.

    Parameters
    ----------
    make
        Makes the app, in each process: a function that can be pickled.
    listener
        The bound socket that all share.
    n
        Number of processes.
    """

    def __init__(self, make: Callable[[], ASGIApp], listener: socket.socket, n: int) -> None:
        self.make = make
        self.listener = listener
        self.n = n
        self.workers: list[Worker] = []
        self.ending = False
        self.announced = False

    def run(self) -> None:
        """Serve until a signal; afterwards all processes have ended."""
        self.hear, self.call = SPAWN.Pipe(duplex=False)
        with handling(self._end):
            try:
                self.workers = [self._start() for _ in range(self.n)]
                while not self.ending:
                    self._look()
            finally:
                self._stop()

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self.ending:
            self.ending = True
            self.call.send("end")

    def _start(self) -> Worker:
        ours, theirs = SPAWN.Pipe()
        process = SPAWN.Process(target=work, args=(self.make, self.listener, theirs))
        process.start()
        theirs.close()
        return Worker(process, ours)

    def _look(self) -> None:
        """Wait until something happens: a process starts or dies, or a signal comes."""
        quiet = [worker for worker in self.workers if not worker.started]
        happened = wait([self.hear, *(w.line for w in quiet), *self._sentinels()])
        for worker in quiet:
            if worker.line in happened:
                worker.started = _said_so(worker.line)
        if not self.announced and all(worker.started for worker in self.workers):
            self.announced = True
            fields = {"url": address(self.listener), "workers": self.n}
            LOG.info("listening", extra={"fields": fields})
        if not self.ending and any(worker.process.exitcode is not None for worker in self.workers):
            self._replace()

    def _replace(self) -> None:
        if not self.announced:
            raise LobError("a worker ended before it served; the lines above say why")
        time.sleep(PAUSE)
        for i, worker in enumerate(self.workers):
            if worker.process.exitcode is not None and not self.ending:
                fields = {"exit": worker.process.exitcode}
                LOG.warning("worker died and is replaced", extra={"fields": fields})
                worker.line.close()
                self.workers[i] = self._start()

    def _sentinels(self) -> list[int]:
        return [worker.process.sentinel for worker in self.workers]

    def _stop(self) -> None:
        for worker in self.workers:
            worker.process.terminate()
        last = time.monotonic() + GRACE + 5
        for worker in self.workers:
            worker.process.join(max(0.0, last - time.monotonic()))
            if worker.process.exitcode is None:
                worker.process.kill()
                worker.process.join()


def _said_so(line: Connection) -> bool:
    try:
        return bool(line.recv())
    except (EOFError, OSError):
        return False
