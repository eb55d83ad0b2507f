"""Which model decides: the newest of the store, followed as newer ones come."""

import logging
import time

import numpy as np

from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.model import Model
from lobandits.service.policy_json import encoded
from lobandits.service.store import Store
from lobandits.service.store.models import StoredNames, newest_version, put_model

POLL_SECONDS = 1.0

logger = logging.getLogger(__name__)


class CurrentModel:
    """The newest model of a store, as ``model``, and the ``names`` of all arms and models."""

    def __init__(self, store: Store, policy: Policy | None) -> None:
        self._store = store
        self.names = StoredNames(store)
        if policy is not None:
            put_model(store, *encoded(policy), policy.arms)
        version = newest_version(store)
        if not version:
            raise LobInputError("the store has no model yet; give a policy (lob serve: --orders)")
        self.model = self._load(version)
        self._looked = time.monotonic()

    def put(self, policy: Policy) -> str:
        """Let a policy decide, as the newest model; return the model's name."""
        put_model(self._store, *encoded(policy), policy.arms)
        return self.reload()

    def reload(self) -> str:
        """Let the newest model decide; return its name."""
        version = newest_version(self._store)
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

    def _load(self, version: int) -> Model:
        model = Model(self._store, version)
        policy = model.policy
        state = policy.new_state(1)  # compiles, so that no caller waits for it
        policy.decide(state, policy.draw(np.random.default_rng(0), (1,)), policy.all_arms)
        policy.odds(state, policy.all_arms)
        return model
