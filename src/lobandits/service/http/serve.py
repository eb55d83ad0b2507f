"""What ``lob serve`` runs: an app in one process or several, until SIGTERM or SIGINT."""

import logging
import os
import shutil
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from starlette.types import ASGIApp

from lobandits._imports import Code
from lobandits.errors import LobError
from lobandits.policies import Policy
from lobandits.service.control_group import Control
from lobandits.service.decision_service import DecisionService
from lobandits.service.http.app import create_app
from lobandits.service.http.json_log import start_logging
from lobandits.service.http.metrics import FOLDER
from lobandits.service.http.server import Server, announce, listen, on_hangup
from lobandits.service.http.settings import Settings
from lobandits.service.http.workers import Workers
from lobandits.service.served_policy import encoded
from lobandits.service.store import open_store
from lobandits.service.store.models import DEFAULT_PROBLEM, has_model

PREFIX = "lob-metrics-"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerPlan:
    """A server yet to be started, as a value that can be sent to other processes."""

    store: str
    reward_wait: float | None = None
    default_reward: float = 0.0
    settings: Settings = field(default_factory=Settings)
    log_level: str = "info"
    code: Code = field(default_factory=Code)  # what defines policies of one's own
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
        if self.code.failure:
            raise LobError(
                f"a worker cannot import what defines the policies: {self.code.failure}; install "
                "it there, too"
            )
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
