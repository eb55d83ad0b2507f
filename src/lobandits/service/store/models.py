"""The models and arms of a store: every version that ever was, and which is the newest.

A version never changes and never goes; to go back, later versions are withdrawn.
"""

from collections.abc import Sequence

from sqlalchemy import Connection, insert, select, text

from lobandits.service.store import tables
from lobandits.service.store.store import Store
from lobandits.service.store.tables import microseconds

SERVED = "version NOT IN (SELECT version FROM withdrawn)"


def versions(store: Store) -> list[int]:
    """Return the versions that were not withdrawn, the newest first."""
    rows = store.rows(f"SELECT version FROM models WHERE {SERVED} ORDER BY version DESC")
    return [version for (version,) in rows]


def newest_version(store: Store) -> int:
    """Return the newest version that was not withdrawn, 0 if there is none."""
    ((version,),) = store.rows(f"SELECT max(version) FROM models WHERE {SERVED}")
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
    newest = text(f"SELECT hash FROM models WHERE {SERVED} ORDER BY version DESC LIMIT 1")
    last = text("SELECT max(version) FROM models")

    def work(connection: Connection) -> None:
        if connection.scalar(newest) != content:
            _add_arms(connection, arms)
            version = (connection.scalar(last) or 0) + 1
            row = {"version": version, "hash": content, "policy": policy, "time": microseconds()}
            connection.execute(insert(tables.models), row)

    store.write(work)


def withdraw(store: Store, versions: Sequence[int]) -> None:
    """Take versions back: an older one is the newest then; those taken back before are no harm."""
    statement = text(
        "INSERT INTO withdrawn (version, time) VALUES (:version, :time) ON CONFLICT DO NOTHING"
    )
    rows = [{"version": version, "time": microseconds()} for version in versions]
    store.write(lambda connection: connection.execute(statement, rows))


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
