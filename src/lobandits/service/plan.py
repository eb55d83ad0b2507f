"""What `lob serve` runs, as a value that can be sent to other processes."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI

from lobandits.policies import Policy
from lobandits.service.app import create_app
from lobandits.service.decisions import DecisionService
from lobandits.service.model import encoded
from lobandits.service.routes import FOLDER
from lobandits.service.server import LOG, Workers, listen, serve, start_logging
from lobandits.service.settings import Settings
from lobandits.service.store.store import open_store


@dataclass(frozen=True)
class Plan:
    """A server that is yet to be started.

    Attributes
    ----------
    store : str
        The store's URL.
    reward_wait, default_reward
        As for `DecisionService`.
    settings : Settings
        Keys and limits.
    log_level : str
        The least level that is logged.
    """

    store: str
    reward_wait: float | None = None
    default_reward: float = 0.0
    settings: Settings = field(default_factory=Settings)
    log_level: str = "info"

    def service(self, policy: Policy | None = None) -> DecisionService:
        """Return the service; without a policy it serves the store's newest model."""
        return DecisionService(
            policy,
            self.store,
            reward_wait=self.reward_wait,
            default_reward=self.default_reward,
        )

    def put(self, policy: Policy | None) -> None:
        """Store a policy as the newest model, unless the store has had it before.

        So a server that starts again does not undo what ``lob model put`` did meanwhile.
        """
        content = "" if policy is None else encoded(policy)[1]
        if policy is not None:
            with closing(open_store(self.store)) as store:
                policy = None if store.has_model(content) else policy
        with self.service(policy) as service:
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
                with _shared_numbers():
                    Workers(self.app, listener, workers).run()


@contextmanager
def _shared_numbers() -> Iterator[None]:
    """Make the folder through which processes add up their numbers."""
    with tempfile.TemporaryDirectory(prefix="lob-metrics-") as folder:
        os.environ[FOLDER] = folder
        try:
            yield
        finally:
            del os.environ[FOLDER]
