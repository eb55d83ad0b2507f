"""Which models decide: the newest of each problem, followed as newer ones come; the way back."""

import logging
import time
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from lobandits.errors import LobInputError
from lobandits.policies import Policy
from lobandits.service.errors import (
    NoEarlierModelError,
    UnknownProblemError,
    UnreadableModelError,
)
from lobandits.service.model import Model
from lobandits.service.served_policy import encoded
from lobandits.service.store import Store
from lobandits.service.store.models import (
    DEFAULT_PROBLEM,
    StoredNames,
    newest_version,
    newest_versions,
    put_model,
    put_times,
    read_model,
    versions,
    withdraw,
)
from lobandits.service.store.tables import as_date

POLL_SECONDS = 1.0

logger = logging.getLogger(__name__)


class CurrentModels:
    """The newest model of each problem of a store, and the ``names`` of all arms and models.

    ``problem`` is meant where none is named. Where the newest model cannot be read, the newest
    that can decides. A problem without any is refused when it is asked for; ``problem`` must have
    one.
    """

    def __init__(self, store: Store, policy: Policy | None, problem: str) -> None:
        self._store = store
        self.problem = problem
        self.names = StoredNames(store)
        if policy is not None:
            put_model(store, *encoded(policy), policy.arms, problem)
        newest = newest_versions(store)
        if problem not in newest:
            which = "" if problem == DEFAULT_PROBLEM else f" of the problem {problem!r}"
            raise LobInputError(
                f"the store has no model{which} yet; give a policy (lob serve: --model)"
            )
        self._models: dict[str, Model] = {}
        self._unreadable: dict[str, tuple[int, UnreadableModelError]] = {}
        self._looked = time.monotonic()
        self._take(newest)
        self.model()

    @property
    def problems(self) -> list[str]:
        """The problems that have a model, by name."""
        return sorted(self._models)

    def model(self, problem: str | None = None) -> Model:
        """Return the model that decides in a problem."""
        name = self.problem if problem is None else problem
        if found := self._models.get(name):
            return found
        if name in self._unreadable:
            raise self._unreadable[name][1]
        raise UnknownProblemError(
            f"there is no problem {name!r:.80}; put its first model: lob model put --problem"
        )

    def half_life(self, problem: str) -> int | None:
        """Return the half-life of a problem's rewards in microseconds; None: they never fade."""
        found = self._models.get(problem)
        return None if found is None else found.half_life

    def put(self, policy: Policy, problem: str | None = None) -> str:
        """Let a policy decide, as the newest model; return the model's name."""
        put_model(self._store, *encoded(policy), policy.arms, problem or self.problem)
        return self.reload(problem)

    def rollback(self, problem: str | None = None) -> str:
        """Let the model before the newest decide; return its name."""
        rollback(self._store, problem or self.problem)
        return self.reload(problem)

    def reload(self, problem: str | None = None) -> str:
        """Let the newest model decide; return its name."""
        name = problem or self.problem
        version = newest_version(self._store, name)
        known = self._models.get(name)
        if version and (known is None or known.version != version):
            self._models[name] = Model(self._store, version)
        return self.model(name).name

    def follow(self) -> None:
        """Look for newer models, at most once a second; go on with one whose newer is no use."""
        now = time.monotonic()
        if now - self._looked > POLL_SECONDS:
            self._looked = now
            self._take(newest_versions(self._store))

    def unreadable(self) -> list[str]:
        """Return the names of the newest models that cannot be read: older ones decide."""
        return [self.names.model(version) for version, _ in self._unreadable.values()]

    def _take(self, newest: dict[str, int]) -> None:
        for problem, version in newest.items():
            known = self._models.get(problem)
            unreadable, _ = self._unreadable.get(problem, (0, None))
            if version == unreadable:
                continue
            self._unreadable.pop(problem, None)
            if known is None or known.version != version:
                self._take_newest(problem, version)

    def _take_newest(self, problem: str, version: int) -> None:
        """Let a model decide; if it cannot be read, say so once, and go on with one before it."""
        try:
            self._models[problem] = Model(self._store, version)
        except UnreadableModelError as error:
            self._unreadable[problem] = version, error
            known = self._models.get(problem) or self._newest_readable(problem)
            if known is not None:
                self._models[problem] = known
            before = f"model {known.name}" if known else f"no model of {problem}"
            logger.error("going on with %s: %s", before, error)

    def _newest_readable(self, problem: str) -> Model | None:
        for version in versions(self._store, problem):
            with suppress(UnreadableModelError):
                return Model(self._store, version)
        return None


def rollback(store: Store, problem: str = DEFAULT_PROBLEM) -> Model:
    """Withdraw the newest model, and those before it that cannot be read; return what is left.

    A version keeps its number, name and policy, so the log reads as before. Whoever goes back
    twice is two models back; a model that was withdrawn is served again once it is put again.
    """
    newest, *older = versions(store, problem) or [0]
    for version in older:
        try:
            model = Model(store, version)
        except UnreadableModelError:
            continue
        withdraw(store, [v for v in (newest, *older) if v > version])
        return model
    raise NoEarlierModelError(
        f"{store.url} has no earlier model that can be read; put one: lob model put --model FILE"
    )


class ListedModel(NamedTuple):
    """A model as a list shows it: decides, earlier, withdrawn or unreadable."""

    name: str
    put: datetime
    status: str
    about: str


def listed_models(store: Store, problem: str = DEFAULT_PROBLEM) -> list[ListedModel]:
    """Return every model that a problem ever had, the newest first."""
    served, decides = set(versions(store, problem)), False
    listed = []
    for version, put in put_times(store, problem):
        try:
            model = Model(store, version)
        except UnreadableModelError as error:
            name, status, about = read_model(store, version).name, "unreadable", str(error)
        else:
            name, about = model.name, repr(model.policy)
            status = "earlier" if decides else "decides"
            decides = decides or version in served
        if version not in served:
            status = "withdrawn"
        listed.append(ListedModel(name, as_date(put), status, about))
    return listed
