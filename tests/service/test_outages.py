"""Stores that freeze, fill up, turn read-only, break or vanish: said so, and nothing is lost."""

import logging
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from sqlalchemy import make_url
from tests.service.conftest import MakeService, Postgres
from tests.service.serving import Caller, ServerProcess

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service import DecisionService, open_store
from lobandits.service.call_queue import Call, DecisionCall
from lobandits.service.errors import ServiceError, StoreUnavailableError
from lobandits.service.requests import DecisionRequest
from lobandits.service.store import Store, sqlite
from lobandits.service.store.postgresql import PostgresTransaction
from lobandits.service.store.users import forget

DOCUMENTED = 10.0  # seconds in which every answer comes


@contextmanager
def frozen(postgres: Postgres) -> Iterator[None]:
    """Stop every process of the server as a machine that hangs would: nothing is closed."""
    main = postgres.server.get_postmaster_info().process
    processes = [main, *main.children(recursive=True)]
    for process in processes:
        process.suspend()
    try:
        yield
    finally:
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.resume()


def timed(ask: Callable[[], Any]) -> tuple[float, Any]:
    began = time.monotonic()
    found = ask()
    return time.monotonic() - began, found


def test_a_frozen_postgresql_is_answered_for_and_ended(postgres: Postgres) -> None:
    def decide(user: int) -> tuple[int, Any]:
        time.sleep(0.3 * user)  # the first ones in the transaction that hangs, others behind it
        with Caller(server.port) as caller:
            return caller.ask("POST", "/v1/decisions", {"user": str(user)})

    server = ServerProcess(postgres.new_url())
    assert decide(0)[0] == 200
    with frozen(postgres), ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(timed, lambda user=user: decide(user)) for user in range(6)]  # type: ignore[misc]
        for user, answer in enumerate(asked):
            seconds, (status, body) = answer.result()
            assert (status, body["error"]["code"]) == (503, "store_unavailable")
            assert seconds - 0.3 * user < DOCUMENTED
        server.process.terminate()
        server.process.join(DOCUMENTED + 2)
        assert server.process.exitcode is not None
    assert server.process.exitcode in (0, 1)


def test_a_postgresql_that_thaws_is_used_again(postgres: Postgres) -> None:
    server = ServerProcess(postgres.new_url())
    with Caller(server.port) as caller:
        decision = caller.ask("POST", "/v1/decisions", {"user": "a"})[1]
        with frozen(postgres):
            assert caller.ask("GET", "/readyz")[0] == 503
        report = {"decision": decision["id"], "reward": 1.0}
        assert caller.ask("POST", "/v1/rewards", report) == (200, {"status": "recorded"})
        assert caller.ask("GET", "/readyz")[0] == 200
    server.stop()


def test_a_postgresql_that_is_read_only_for_a_while(postgres: Postgres, policy: lob.LobTS) -> None:
    url = postgres.new_url()
    name = make_url(url).database
    with DecisionService(policy, url) as service:
        decision = service.decide("a")
        for setting in ("on", "off"):
            with psycopg.connect(postgres.server.get_uri(), autocommit=True) as administrator:
                administrator.execute(
                    f"ALTER DATABASE {name} SET default_transaction_read_only = {setting}"
                )
                if setting == "on":
                    administrator.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                        (name,),
                    )
            if setting == "on":
                for call in (lambda: service.record(decision.id, 1.0), service.ready):
                    with pytest.raises(StoreUnavailableError):
                        call()
        assert service.record(decision.id, 1.0) == "recorded"
        service.ready()


def test_a_database_of_another_encoding_is_refused(postgres: Postgres) -> None:
    with psycopg.connect(postgres.server.get_uri(), autocommit=True) as administrator:
        administrator.execute(
            "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    with pytest.raises(LobInputError, match="encoding LATIN1"):
        open_store(postgres.server.get_uri(database="latin"))


def test_nobody_pays_for_the_call_of_another(make_service: MakeService, policy: lob.LobTS) -> None:
    """One name is refused by the database; the others of its group are decided for."""
    service = make_service(policy)
    with service.store.engine.begin() as connection:
        if service.store.is_sqlite:
            connection.exec_driver_sql(
                "CREATE TRIGGER t BEFORE INSERT ON users WHEN NEW.name = 'poison' "
                "BEGIN SELECT RAISE(ABORT, 'refused'); END"
            )
        else:
            connection.exec_driver_sql(
                "ALTER TABLE users ADD CONSTRAINT t CHECK (name <> 'poison')"
            )
    calls: list[Call[Any]] = [
        DecisionCall([DecisionRequest(user=user)]) for user in ("a", "poison", "b")
    ]
    calls.append(DecisionCall([DecisionRequest(user="c", allowed=["wine"])]))
    service.run(calls)
    assert [call.error is None for call in calls] == [True, False, True, False]
    assert {row.user for row in service.log()} == {"a", "b"}
    assert sum(service.activity(minutes=2)["decisions"]) == 2


def deadlocks(postgres: Postgres, url: str) -> int:
    """Return how many there were in a database."""
    time.sleep(1.0)  # the statistics of PostgreSQL come a little later
    with psycopg.connect(postgres.server.get_uri(), autocommit=True) as administrator:
        query = "SELECT deadlocks FROM pg_stat_database WHERE datname = %s"
        found = administrator.execute(query, (make_url(url).database,)).fetchone()
    assert found is not None
    return int(found[0])


def test_forgetting_and_rewarding_at_once_never_deadlock(
    postgres: Postgres, policy: lob.LobTS
) -> None:
    url = postgres.new_url()
    end = time.monotonic() + 4.0
    services = [DecisionService(policy, url) for _ in range(3)]

    def play(service: DecisionService) -> None:
        while time.monotonic() < end:
            made = service.decide_many(["a", "b"] * 10)
            service.record_many([(decision.id, 1.0) for decision in made])

    def forget(service: DecisionService) -> None:
        while time.monotonic() < end:
            service.forget("a")
            service.forget("b")

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(work, s) for s in services for work in (play, forget)]
        for each in done:
            each.result()
    for service in services:
        service.close()
    assert deadlocks(postgres, url) == 0


def test_rewarding_and_forgetting_lock_decisions_in_one_order(
    postgres: Postgres, policy: lob.LobTS
) -> None:
    """A reward and an erasure wait for the lower of two ids, which was stored last."""
    url = postgres.new_url()
    low, high = (f"{digit * 32}" for digit in "01")
    with DecisionService(policy, url) as service, ThreadPoolExecutor(2) as pool:
        for key in (high, low):
            service.decide("a", id=key)
        with psycopg.connect(url) as other:
            query = "SELECT 1 FROM decisions WHERE id = %s FOR UPDATE"
            other.execute(query, (bytes.fromhex(low),))
            rewarded = pool.submit(service.record_many, [(low, 1.0), (high, 1.0)])
            time.sleep(0.3)
            forgotten = pool.submit(service.forget, "a")
            time.sleep(0.3)
        assert rewarded.result() == ["recorded"] * 2
        assert forgotten.result() == 2
    assert deadlocks(postgres, url) == 0


def test_who_is_forgotten_while_another_is_added_makes_no_two_wait_for_each_other(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One adds a and b and holds b; a is forgotten, and another, adding both, holds a."""
    url = postgres.new_url()
    store, others = open_store(url), open_store(url)
    store.write(lambda connection: store.transaction(connection).add_users(["a"]))
    find, tries = PostgresTransaction.find_users, []
    pool = ThreadPoolExecutor(1)

    def both(mine: Store) -> dict[str, int]:
        return mine.write(lambda connection: mine.transaction(connection).add_users(["a", "b"]))

    def find_later(transaction: PostgresTransaction, names: Sequence[str]) -> dict[str, int]:
        tries.append(names)
        if len(tries) == 1:
            assert forget(others, "a") == 0
            pending.append(pool.submit(both, others))
            time.sleep(0.5)  # until it waits for b
        return find(transaction, names)

    pending: list[Future[dict[str, int]]] = []
    monkeypatch.setattr(PostgresTransaction, "find_users", find_later)
    mine = both(store)
    assert mine == pending[0].result()
    assert mine.keys() == {"a", "b"}
    for each in (store, others):
        each.close()
    assert deadlocks(postgres, url) == 0


def test_a_file_that_is_removed_takes_nothing_any_more(tmp_path: Path, policy: lob.LobTS) -> None:
    path = tmp_path / "lob.db"
    with DecisionService(policy, f"sqlite:///{path}") as service:
        decision = service.decide("a")
        path.rename(tmp_path / "away.db")
        for call in (
            lambda: service.record(decision.id, 1.0),
            lambda: service.decide("b"),
            service.ready,
        ):
            for _ in range(2):  # with a connection at hand, and without one
                with pytest.raises(StoreUnavailableError, match="removed or replaced"):
                    call()
                service.store.engine.dispose()
        path.write_bytes((tmp_path / "away.db").read_bytes())
        with pytest.raises(StoreUnavailableError, match="removed or replaced"):
            service.ready()
        (tmp_path / "away.db").rename(path)
        assert service.record(decision.id, 1.0) in ("recorded", "already recorded")
        service.ready()


def test_a_store_is_created_whole_for_its_owner_and_said_so(
    tmp_path: Path, policy: lob.LobTS, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "lob.db"
    with caplog.at_level(logging.INFO), DecisionService(policy, f"sqlite:///{path}") as service:
        service.decide("a")
        assert {oct(file.stat().st_mode)[-3:] for file in tmp_path.iterdir()} == {"600"}
        assert [r.message for r in caplog.records] == ["created a store"]
        open_store(f"sqlite:///{path}").close()
        assert len(caplog.records) == 1
    assert {file.name for file in tmp_path.iterdir()} == {"lob.db"}


def test_an_empty_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "lob.db").touch()
    with pytest.raises(LobInputError, match="is empty"):
        open_store(f"sqlite:///{tmp_path / 'lob.db'}")
    assert (tmp_path / "lob.db").stat().st_size == 0


@contextmanager
def full(path: Path) -> Iterator[None]:
    """Let no file grow, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = Path(f"{path}-wal").stat().st_size
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@pytest.mark.parametrize("outage", [full, locked])
def test_ready_means_able_to_write_and_the_cause_is_logged_once(
    tmp_path: Path,
    policy: lob.LobTS,
    outage: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    path = tmp_path / "lob.db"
    with DecisionService(policy, f"sqlite:///{path}") as service:
        service.decide("a")
        service.ready()
        with outage(path):
            for _ in range(3):
                with pytest.raises(StoreUnavailableError):
                    service.ready()
        service.ready()
        assert service.decide("a")
    said = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert [r.message for r in said] == ["the store does not answer", "the store answers again"]
    assert said[0].fields["reason"]  # type: ignore[attr-defined]


def test_a_corrupt_store_is_not_ready(tmp_path: Path, policy: lob.LobTS) -> None:
    path = tmp_path / "lob.db"
    DecisionService(policy, f"sqlite:///{path}").close()
    service = DecisionService(None, f"sqlite:///{path}")
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (len(data) - 4096))
    service.store.engine.dispose()  # and with it what was read before
    with pytest.raises(ServiceError):
        service.ready()
    service.close()


def test_many_may_be_forgotten_at_once(make_service: MakeService, policy: lob.LobTS) -> None:
    service = make_service(policy)
    names = [f"user {i}" for i in range(40)]
    service.decide_many(names * 3)
    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(service.forget, names)) == [3] * 40
    assert not list(service.log())
