"""What `lob serve` runs, as a value that can be sent to other processes."""

import os
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from socket import socket

from fastapi import FastAPI

from lobandits.policies import Policy
from lobandits.service.app import create_app
from lobandits.service.decisions import DecisionService
from lobandits.service.model import encoded
from lobandits.service.routes import FOLDER
from lobandits.service.server import LOG, Workers, listen, serve, start_logging
from lobandits.service.settings import Settings
from lobandits.service.store import open_store


@dataclass(frozen=True)
class Plan:
    """A server that is yet to be started; ``store`` is a URL, the rest as for its parts."""

    store: str
    reward_wait: float | None = None
    default_reward: float = 0.0
    settings: Settings = field(default_factory=Settings)
    log_level: str = "info"

    def service(self, policy: Policy | None = None) -> DecisionService:
        """Return the service; without a policy it serves the store's newest model."""
        wait, default = self.reward_wait, self.default_reward
        return DecisionService(policy, self.store, reward_wait=wait, default_reward=default)

    def put(self, policy: Policy | None) -> None:
        """Store a policy as the newest model, unless the store has had it before.

        So a server that starts again does not undo what ``lob model put`` did meanwhile.
        """
        content = "" if policy is None else encoded(policy)[1]
        with closing(open_store(self.store)) as store:
            known = store.has_model(content)
        with self.service(None if known else policy) as service:
            if not service.model.endswith(content[:8]):
                fields = {"model": service.model}
                LOG.warning("a newer model was put after these orders", extra={"fields": fields})

    def app(self) -> FastAPI:
        """Return the app, for a process of its own."""
        start_logging(self.log_level)
        return create_app(self.service(), self.settings)

    def run(self, policy: Policy | None, host: str, port: int, workers: int) -> None:
        """Serve until a signal; what is wrong is said before anything is started."""
        self.settings.check_host(host)
        with listen(host, port) as listener:
            start_logging(self.log_level)
            self.put(policy)
            if workers == 1:
                serve(self.app(), listener)
            else:
                self._run_many(listener, workers)

    def _run_many(self, listener: socket, workers: int) -> None:
        """Serve in processes that add up their numbers through a folder."""
        with tempfile.TemporaryDirectory(prefix="lob-metrics-") as folder:
            os.environ[FOLDER] = folder
            try:
                Workers(self.app, listener, workers).run()
            finally:
                del os.environ[FOLDER]
