"""What `lob serve` runs: an app in one process or several, until SIGTERM or SIGINT.

Then no new request is taken, those under way are finished, and the exit code is 0.
"""

import gc
import json
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from lobandits._checks import whole
from lobandits.errors import LobError
from lobandits.policies import Policy
from lobandits.service import DecisionService
from lobandits.service.app import LOG, Settings, create_app
from lobandits.service.model import encoded
from lobandits.service.routes import FOLDER
from lobandits.service.store import open_store

LEVELS = ("debug", "info", "warning", "error")
GRACE = 30  # seconds for requests under way at the end
SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks and connections


class Server(uvicorn.Server):
    """Uvicorn, which after a graceful end returns instead of raising the signal again."""

    def __init__(self, app: ASGIApp, on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app, ws="none", lifespan="on", log_config=None, access_log=False,
            proxy_headers=False, server_header=False,
            headers=[("x-content-type-options", "nosniff"), ("cache-control", "no-store")],
            timeout_keep_alive=65,  # longer than clients keep an idle connection
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=2**18,  # a name that is much too long can be refused
        )  # fmt: skip
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            gc.freeze()  # what is loaded stays, so the collector need not look at it again
            self.on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal while the server runs."""
        with _handling(self.handle_exit):
            yield


@contextmanager
def _handling(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Let ``handler`` take the signals to end."""
    before = {n: signal.signal(n, handler) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to ``host`` and ``port``; port 0 takes a free one."""
    whole("port", port, least=0, most=65535)  # getaddrinfo takes what is left of a larger one
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise LobError(f"cannot listen on {host}, port {port}: {error}") from error
    return listener


def address(listener: socket.socket) -> str:
    """Return the address of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _announce(listener: socket.socket, workers: int) -> None:
    LOG.info("listening", extra={"fields": {"url": address(listener), "workers": workers}})


class Workers:
    """Serves what ``make`` returns in ``n`` processes on one socket; one that dies is replaced.

    One pipe tells of processes that have started, and of the signal to end.
    """

    def __init__(self, make: Callable[[], ASGIApp], listener: socket.socket, n: int) -> None:
        self.make = make
        self.listener = listener
        self.n = n
        self.processes: list[BaseProcess] = []
        self.hear, self.call = SPAWN.Pipe(duplex=False)
        self.started = 0
        self.ending = False

    def run(self) -> None:
        """Serve until a signal."""
        with _handling(self._end):
            try:
                self.processes = [self._start() for _ in range(self.n)]
                while not self.ending:
                    self._look()
            finally:
                self._stop()

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self.ending:
            self.ending = True
            self.call.send("end")

    def _start(self) -> BaseProcess:
        process = SPAWN.Process(target=_work, args=(self.make, self.listener, self.call))
        process.start()
        return process

    def _look(self) -> None:
        """Wait until something happens: a process starts or dies, or a signal comes."""
        ends = [process.sentinel for process in self.processes]
        if self.hear in wait([self.hear, *ends]) and self.hear.recv() == "started":
            self.started += 1
            if self.started == self.n:
                _announce(self.listener, self.n)
        if not self.ending and any(process.exitcode is not None for process in self.processes):
            self._replace()

    def _replace(self) -> None:
        if self.started < self.n:
            raise LobError("a worker ended before it served; the lines above say why")
        time.sleep(1.0)
        for i, process in enumerate(self.processes):
            if process.exitcode is not None and not self.ending:
                fields = {"exit": process.exitcode}
                LOG.warning("worker died and is replaced", extra={"fields": fields})
                self.processes[i] = self._start()

    def _stop(self) -> None:
        for process in self.processes:
            process.terminate()
        last = time.monotonic() + GRACE + 5
        for process in self.processes:
            process.join(max(0.0, last - time.monotonic()))
            process.kill()  # nothing happens to one that has ended
            process.join()


def _work(make: Callable[[], ASGIApp], listener: socket.socket, parent: Connection) -> None:
    """Serve as one of several processes, until a signal or the death of the parent."""
    server = Server(make(), lambda: parent.send("started"))

    def watch() -> None:
        process = multiprocessing.parent_process()
        assert process is not None
        process.join()
        server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    server.run([listener])


class JsonLines(logging.Formatter):
    """Writes a record as ``{"time", "level", "event", ...}``."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line."""
        line = {
            "time": self.formatTime(record),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)


def start_logging(level: str = "info") -> None:
    """Log the service, and uvicorn's errors, to standard output as JSON lines."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonLines())
    for name, least in (("lobandits.service", level), ("uvicorn.error", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False


@dataclass(frozen=True)
class Plan:
    """A server yet to be started, as a value that can be sent to other processes."""

    store: str
    reward_wait: float | None = None
    default_reward: float = 0.0
    settings: Settings = field(default_factory=Settings)
    log_level: str = "info"

    def service(self, policy: Policy | None = None) -> DecisionService:
        """Return the service, by default of the store's newest model."""
        wait, default = self.reward_wait, self.default_reward
        return DecisionService(policy, self.store, reward_wait=wait, default_reward=default)

    def put(self, policy: Policy | None) -> None:
        """Put a policy that the store never had: a restart does not undo ``lob model put``."""
        content = "" if policy is None else encoded(policy)[1]
        with closing(open_store(self.store)) as store:
            known = store.has_model(content)
        with self.service(None if known else policy) as service:
            if not service.model.endswith(content[:8]):
                fields = {"model": service.model}
                LOG.warning("a newer model was put after these orders", extra={"fields": fields})

    def app(self) -> ASGIApp:
        """Return the app, for a process of its own."""
        start_logging(self.log_level)
        return create_app(self.service(), self.settings)

    def run(self, policy: Policy | None, host: str, port: int, workers: int) -> None:
        """Serve until a signal."""
        self.settings.check_host(host)
        with listen(host, port) as listener:
            start_logging(self.log_level)
            self.put(policy)
            if workers == 1:
                Server(self.app(), lambda: _announce(listener, 1)).run([listener])
                return
            with tempfile.TemporaryDirectory(prefix="lob-metrics-") as folder:
                os.environ[FOLDER] = folder
                try:
                    Workers(self.app, listener, workers).run()
                finally:
                    del os.environ[FOLDER]
