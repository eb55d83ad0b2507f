"""The models and arms of a store: every version that ever was, and which is the newest."""

import time
from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, text

from lobandits.service.store import tables
from lobandits.service.store.store import Store


def newest_version(store: Store) -> int:
    """Return the version of the newest model, 0 if there is none."""
    ((version,),) = store.rows("SELECT max(version) FROM models")
    return version or 0


def read_model(store: Store, version: int) -> tuple[str, str]:
    """Return a model's name, and its policy as JSON."""
    query = "SELECT hash, policy FROM models WHERE version = :version"
    ((content, policy),) = store.rows(query, version=version)
    return f"{version}-{content[:8]}", policy


def has_model(store: Store, content: str) -> bool:
    """Whether a policy with that hash is, or once was, the newest model."""
    return bool(store.rows("SELECT 1 FROM models WHERE hash = :hash", hash=content))


def put_model(store: Store, policy: str, content: str, arms: Sequence[str]) -> None:
    """Make the policy with that hash the newest model, unless it is that already."""
    newest = text("SELECT version, hash FROM models ORDER BY version DESC LIMIT 1")

    def work(connection: Connection) -> None:
        version, known = connection.execute(newest).first() or (0, None)
        if known != content:
            _add_arms(connection, arms)
            now = time.time_ns() // 1000
            row = {"version": version + 1, "hash": content, "policy": policy, "time": now}
            connection.execute(insert(tables.models), row)

    store.write(work)


def _add_arms(connection: Connection, arms: Sequence[str]) -> None:
    """Give numbers to those arms that have none yet."""
    names = set(connection.scalars(select(tables.arms.c.name)))
    new = enumerate((arm for arm in arms if arm not in names), len(names) + 1)
    if rows := [{"id": number, "name": name} for number, name in new]:
        connection.execute(insert(tables.arms), rows)


def arm_numbers(store: Store) -> dict[str, int]:
    """Return the numbers of all arms that ever were, by name."""
    return dict(store.rows("SELECT name, id FROM arms"))


class StoredNames:
    """The names of all arms and models that ever were, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._arms: dict[int, str] = {}
        self._models: dict[int, str] = {}

    def arm(self, number: int) -> str:
        """Return the name of an arm."""
        if number not in self._arms:
            self._arms = {number: name for name, number in arm_numbers(self._store).items()}
        return self._arms[number]

    def model(self, version: int) -> str:
        """Return the name of a model."""
        if version not in self._models:
            self._models[version], _ = read_model(self._store, version)
        return self._models[version]
