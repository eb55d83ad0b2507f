"""The way back from a model that turned out wrong, or cannot be read."""

from lobandits.service.errors import NoEarlierModelError, UnreadableModelError
from lobandits.service.model import Model
from lobandits.service.store import Store
from lobandits.service.store.models import versions, withdraw


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
