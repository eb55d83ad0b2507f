"""The names behind the numbers of a store."""

from lobandits.service.model import Model
from lobandits.service.store.store import Store


class Names:
    """The names of all arms and models by their numbers; read again when one is missing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._arms: dict[int, str] = {}
        self._models: dict[int, str] = {}

    def add(self, model: Model) -> None:
        """Remember the names of a model and its arms."""
        self._models[model.version] = model.name
        self._arms.update(zip(model.ids, model.policy.arms, strict=True))

    def arm(self, number: int) -> str:
        """Return the name of an arm."""
        if number not in self._arms:
            self._arms = {number: name for name, number in self._store.arms().items()}
        return self._arms[number]

    def model(self, version: int) -> str:
        """Return the name of a model."""
        if version not in self._models:
            self._models[version] = self._store.model(version).name
        return self._models[version]
