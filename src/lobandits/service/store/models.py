"""The problems of a store, with the arms and models of each.

A problem comes into being with its first model. A version of a model never changes and never goes;
to go back, later versions are withdrawn.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import Connection, insert, text

from lobandits.service.store import tables
from lobandits.service.store.store import Store
from lobandits.service.store.tables import microseconds

SERVED = "version NOT IN (SELECT version FROM withdrawn)"
OF = "problem_id = (SELECT id FROM problems WHERE name = :problem)"
DEFAULT_PROBLEM = "default"


class StoredModel(NamedTuple):
    """A model: its name, its problem, and its policy as JSON."""

    name: str
    problem: str
    policy: str


def versions(store: Store, problem: str = DEFAULT_PROBLEM) -> list[int]:
    """Return a problem's versions that were not withdrawn, the newest first."""
    query = f"SELECT version FROM models WHERE {OF} AND {SERVED} ORDER BY version DESC"
    return [version for (version,) in store.rows(query, problem=problem)]


def put_times(store: Store, problem: str = DEFAULT_PROBLEM) -> list[tuple[int, int]]:
    """Return all of a problem's versions and when each was put, the newest first."""
    query = f"SELECT version, time FROM models WHERE {OF} ORDER BY version DESC"
    return [(version, time) for version, time in store.rows(query, problem=problem)]


def newest_versions(store: Store) -> dict[str, int]:
    """Return the newest version of every problem that was not withdrawn."""
    query = (
        "SELECT name, max(version) FROM models JOIN problems ON id = problem_id "
        f"WHERE {SERVED} GROUP BY name"
    )
    return dict(store.rows(query))


def newest_version(store: Store, problem: str = DEFAULT_PROBLEM) -> int:
    """Return a problem's newest version that was not withdrawn, 0 if there is none."""
    return next(iter(versions(store, problem)), 0)


def read_model(store: Store, version: int) -> StoredModel:
    """Return a model."""
    query = (
        "SELECT hash, name, policy FROM models JOIN problems ON id = problem_id "
        "WHERE version = :version"
    )
    ((content, problem, policy),) = store.rows(query, version=version)
    return StoredModel(f"{version}-{content[:8]}", problem, policy)


def has_model(store: Store, content: str, problem: str = DEFAULT_PROBLEM) -> bool:
    """Whether a policy with that hash is, or once was, the newest model of a problem."""
    query = f"SELECT 1 FROM models WHERE {OF} AND hash = :hash"
    return bool(store.rows(query, problem=problem, hash=content))


def put_model(
    store: Store, policy: str, content: str, arms: Sequence[str], problem: str = DEFAULT_PROBLEM
) -> None:
    """Make the policy with that hash the newest model of a problem, unless it is that already."""
    newest = text(f"SELECT hash FROM models WHERE {OF} AND {SERVED} ORDER BY version DESC LIMIT 1")
    last = text("SELECT max(version) FROM models")

    def work(connection: Connection) -> None:
        if connection.scalar(newest, {"problem": problem}) != content:
            number = _add_problem(connection, problem)
            _add_arms(connection, number, arms)
            version = (connection.scalar(last) or 0) + 1
            row = {"version": version, "problem_id": number, "hash": content, "policy": policy}
            connection.execute(insert(tables.models), row | {"time": microseconds()})

    store.write(work)


def withdraw(store: Store, versions: Sequence[int]) -> None:
    """Take versions back: an older one is the newest then; those taken back before are no harm."""
    statement = text(
        "INSERT INTO withdrawn (version, time) VALUES (:version, :time) ON CONFLICT DO NOTHING"
    )
    rows = [{"version": version, "time": microseconds()} for version in versions]
    store.write(lambda connection: connection.execute(statement, rows))


def _add_problem(connection: Connection, name: str) -> int:
    """Return the number of a problem, which it gets here if it has none yet."""
    rows = connection.execute(text("SELECT name, id FROM problems")).all()
    for known, number in rows:
        if known == name:
            return int(number)
    connection.execute(insert(tables.problems), {"id": len(rows) + 1, "name": name})
    return len(rows) + 1


def _add_arms(connection: Connection, problem: int, arms: Sequence[str]) -> None:
    """Give numbers to those arms of a problem that have none yet."""
    every = connection.execute(text("SELECT problem_id, name FROM arms")).all()
    known = {name for owner, name in every if owner == problem}
    new = enumerate((arm for arm in arms if arm not in known), len(every) + 1)
    if rows := [{"id": number, "problem_id": problem, "name": name} for number, name in new]:
        connection.execute(insert(tables.arms), rows)


def arm_numbers(store: Store, problem: str = DEFAULT_PROBLEM) -> dict[str, int]:
    """Return the numbers of all arms that a problem ever had, by name, in their order."""
    query = f"SELECT name, id FROM arms WHERE {OF} ORDER BY id"
    return dict(store.rows(query, problem=problem))


class StoredNames:
    """The names of all problems, arms and models that ever were, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._arms: dict[int, tuple[str, int]] = {}
        self._models: dict[int, StoredModel] = {}

    def arm(self, number: int) -> str:
        """Return the name of an arm."""
        return self._arm(number)[0]

    def action(self, number: int) -> int:
        """Return the place of an arm, from 0, among all that its problem ever had."""
        return self._arm(number)[1]

    def model(self, version: int) -> str:
        """Return the name of a model."""
        return self._model(version).name

    def problem(self, version: int) -> str:
        """Return the problem of a model."""
        return self._model(version).problem

    def _arm(self, number: int) -> tuple[str, int]:
        if number not in self._arms:
            places: dict[int, int] = {}
            for arm, problem, name in self._store.rows(
                "SELECT id, problem_id, name FROM arms ORDER BY id"
            ):
                self._arms[arm] = name, places.get(problem, 0)
                places[problem] = places.get(problem, 0) + 1
        return self._arms[number]

    def _model(self, version: int) -> StoredModel:
        if version not in self._models:
            self._models[version] = read_model(self._store, version)._replace(policy="")
        return self._models[version]
