"""What ``lob serve`` runs: an app in one process or several, until SIGTERM or SIGINT."""

import logging
import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from starlette.types import ASGIApp

from lobandits.basics.user_code import unpacked
from lobandits.errors import LobError
from lobandits.policies import Policy
from lobandits.service.decision_service import DecisionService
from lobandits.service.http.app import create_app
from lobandits.service.http.json_log import start_logging
from lobandits.service.http.keys import Settings
from lobandits.service.http.metrics import FOLDER
from lobandits.service.http.server import LAST, Server, announce, handling, leave, listen, on_hangup
from lobandits.service.observers.control_group import Control
from lobandits.service.served_policy import encoded
from lobandits.service.store import open_store
from lobandits.service.store.models import DEFAULT_PROBLEM, has_model

PREFIX = "lob-metrics-"
SPAWN = multiprocessing.get_context("spawn")  # a fork would copy locks and connections

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerPlan:
    """A server yet to be started, as a value that can be sent to other processes."""

    store: str
    reward_wait: float | None = None
    default_reward: float = 0.0
    settings: Settings = field(default_factory=Settings)
    log_level: str = "info"
    code: bytes = b""  # the classes of policies and likelihoods of one's own, `packed`
    problem: str = DEFAULT_PROBLEM
    keep: float | None = None  # seconds
    explore: float = 0.0
    control: bool = False  # whether the store's newest control group is decided for
    apprentice: str | None = None  # the field in which callers say what they show

    def run(
        self,
        policy: Policy | None,
        host: str,
        port: int,
        workers: int,
        control: Control | None = None,
    ) -> None:
        """Serve until a signal."""
        self.settings.check_host(host)
        with listen(host, port) as listener:
            start_logging(self.log_level)
            self.put(policy, control)
            if workers == 1:
                Server(self.app(), lambda: announce(listener, 1)).run([listener])
                return
            remove_orphans()
            with tempfile.TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-") as folder:
                os.environ[FOLDER] = folder
                try:
                    Workers(self.app, listener, workers).run()
                finally:
                    del os.environ[FOLDER]

    def put(self, policy: Policy | None, control: Control | None = None) -> None:
        """Put a policy that the store never had: a restart does not undo ``lob model put``.

        A control group is put as well.
        """
        content = "" if policy is None else encoded(policy)[1]
        with closing(open_store(self.store)) as store:
            known = has_model(store, content, self.problem)
        with self.service(None if known else policy) as service:
            if control is not None:
                control.put(service.store, self.problem)
            if not service.model.endswith(content[:8]):
                fields = {"model": service.model}
                logger.warning("a newer model was put after these orders", extra={"fields": fields})

    def app(self) -> ASGIApp:
        """Return the app, for a process of its own."""
        start_logging(self.log_level)
        if self.code:
            unpacked(self.code)
        app = create_app(self.service(), self.settings, self.apprentice)
        on_hangup(app.state.ring.reload)
        return app

    def service(self, policy: Policy | None = None) -> DecisionService:
        """Return the service, by default of the store's newest model."""
        return DecisionService(
            policy,
            self.store,
            reward_wait=self.reward_wait,
            default_reward=self.default_reward,
            keep=self.keep,
            problem=self.problem,
            explore=self.explore,
            control=self.control,
        )


def remove_orphans() -> None:
    """Remove the folders of metrics whose servers were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = folder.name.removeprefix(PREFIX).partition("-")[0]
        if owner.isdigit() and not _lives(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is of somebody else
        return True
    return True


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
    leave()


def _follow_parent() -> None:
    """End this process, as a signal would, once its parent has died; also while it starts."""
    process = multiprocessing.parent_process()
    assert process is not None
    process.join()
    os.kill(os.getpid(), signal.SIGTERM)
