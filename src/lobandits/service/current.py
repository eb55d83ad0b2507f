"""The model that decides now, and how a newer one takes over."""

import logging
import time

import numpy as np

from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.model import Model, encoded
from lobandits.service.names import Names
from lobandits.service.store.store import Store

POLL_SECONDS = 1.0
logger = logging.getLogger(__name__)


class CurrentModel:
    """Follows the newest model of a store.

    Attributes
    ----------
    model : Model
        What decides now.
    names : Names
        Of all arms and models.
    """

    def __init__(self, store: Store, policy: Policy | None) -> None:
        self._store = store
        self.names = Names(store)
        if policy is not None:
            self._put(policy)
        version = store.newest_version()
        if not version:
            raise LobInputError("the store has no model yet; give a policy (lob serve: --orders)")
        self.model = self._load(version)
        self._looked = time.monotonic()

    def put(self, policy: Policy) -> str:
        """Store a policy as the newest model, and let it decide; return the model's name."""
        self._put(policy)
        return self.reload()

    def reload(self) -> str:
        """Let the newest model decide; return its name."""
        version = self._store.newest_version()
        if version != self.model.version:
            self.model = self._load(version)
        return self.model.name

    def follow(self) -> None:
        """Reload, at most once a second; go on with the old model if the new one is no use."""
        now = time.monotonic()
        if now - self._looked > POLL_SECONDS:
            self._looked = now
            try:
                self.reload()
            except LobInputError as error:  # made by a newer lobandits
                logger.error("going on with model %s: %s", self.model.name, error)

    def _put(self, policy: Policy) -> None:
        text, content = encoded(policy)
        self._store.put_model(text, content, policy.arms)

    def _load(self, version: int) -> Model:
        model = Model(self._store.model(version), self._store.arms())
        self.names.add(model)
        policy = model.policy
        state = policy.new_state(1)  # compiles, so that no caller waits for it
        policy.decide(state, policy.draw(np.random.default_rng(0), (1,)))
        policy.propensities(state)
        return model
