"""Which model decides: the newest of the store, followed as newer ones come, and the way back."""

import logging
import time

from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.errors import NoEarlierModelError, UnreadableModelError
from lobandits.service.model import Model
from lobandits.service.served_policy import encoded
from lobandits.service.store import Store
from lobandits.service.store.models import (
    StoredNames,
    newest_version,
    put_model,
    versions,
    withdraw,
)

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
        self.model = Model(store, version)
        self._looked = time.monotonic()
        self._unreadable = 0

    def put(self, policy: Policy) -> str:
        """Let a policy decide, as the newest model; return the model's name."""
        put_model(self._store, *encoded(policy), policy.arms)
        return self.reload()

    def rollback(self) -> str:
        """Let the model before the newest decide; return its name."""
        rollback(self._store)
        return self.reload()

    def reload(self) -> str:
        """Let the newest model decide; return its name."""
        version = newest_version(self._store)
        if version != self.model.version:
            self.model = Model(self._store, version)
        return self.model.name

    def follow(self) -> None:
        """Look for a newer model, at most once a second; go on with this one if it is no use."""
        now = time.monotonic()
        if now - self._looked <= POLL_SECONDS:
            return
        self._looked = now
        version = newest_version(self._store)
        if version not in (self.model.version, self._unreadable):
            try:
                self.model = Model(self._store, version)
            except UnreadableModelError as error:
                self._unreadable = version  # say so once
                logger.error("going on with model %s: %s", self.model.name, error)


def rollback(store: Store) -> Model:
    """Withdraw the newest model, and those before it that cannot be read; return what is left.

    A version keeps its number, name and policy, so the log reads as before. Whoever goes back
    twice is two models back; a model that was withdrawn is served again once it is put again.
    """
    newest, *older = versions(store) or [0]
    for version in older:
        try:
            model = Model(store, version)
        except UnreadableModelError:
            continue
        withdraw(store, [v for v in (newest, *older) if v > version])
        return model
    raise NoEarlierModelError(
        f"{store.url} has no earlier model that can be read; put one: lob model put --orders FILE"
    )
