"""Stores: opened, migrated, busy, broken and gone."""

import sqlite3
import threading
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, select, text, update
from tests.service.conftest import MakeService, Postgres

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service import DecisionService, Store, open_store
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.store import postgresql, sqlite, tables
from lobandits.service.store.store import PAUSES
from lobandits.service.store.tables import STEPS


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("nonsense", "must be a URL"),
        ("mysql://localhost/x", "cannot be 'mysql'"),
        ("sqlite://", "in memory"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:///x.db?synchronous=off", "unknown synchronous 'off'"),
        ("sqlite:///x.db?mode=ro", "unknown option 'mode'"),
    ],
)
def test_wrong_urls_are_refused(url: str, message: str) -> None:
    with pytest.raises(LobInputError, match=message):
        open_store(url)


def test_files_that_are_no_stores_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database at all" * 100)
    with pytest.raises(LobInputError, match="is no store"):
        open_store(f"sqlite:///{tmp_path / 'text.db'}")
    with pytest.raises(StoreUnavailableError, match="cannot open the store"):
        open_store(f"sqlite:///{tmp_path / 'absent' / 'lob.db'}")


def test_passwords_are_not_shown() -> None:
    with pytest.raises(StoreUnavailableError) as caught:
        open_store("postgresql://ada:secret@127.0.0.1:1/nothing")
    assert "secret" not in str(caught.value)


def test_sqlite_survives_a_loss_of_power_by_default(tmp_path: Path) -> None:
    for option, level in (("", 2), ("?synchronous=normal", 1)):
        store = open_store(f"sqlite:///{tmp_path / 'lob.db'}{option}")
        with store.read() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        store.close()


def test_an_older_store_is_migrated(
    make_service: MakeService, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later version would add a step; it is done once, and all else stays."""
    before = make_service(policy)
    decision = before.decide("a")
    before.close()

    def later(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE later (id BIGINT)"))

    monkeypatch.setattr(tables, "STEPS", (*STEPS, later))
    for _ in range(2):
        service = make_service()
        assert inspect(service.store.engine).has_table("later")
        with service.store.read() as connection:
            assert connection.scalar(select(tables.meta.c.value)) == len(STEPS) + 1
        service.record(decision.id, 1.0)
        assert service.user("a")["plays"] == 1


def test_steps_make_the_tables(store_url: str) -> None:
    store = open_store(store_url)
    with store.read() as connection:
        found = inspect(connection)
        for table in tables.metadata.sorted_tables:
            columns = {column["name"] for column in found.get_columns(table.name)}
            assert columns == set(table.columns.keys())
    store.close()


def test_a_newer_store_is_refused(store_url: str) -> None:
    store = open_store(store_url)
    with store.engine.begin() as connection:
        connection.execute(update(tables.meta).values(value=99))
    store.close()
    with pytest.raises(LobInputError, match=r"version 99.*upgrade"):
        open_store(store_url)


def test_many_may_open_an_empty_store_at_once(store_url: str) -> None:
    stores: list[Store] = []
    threads = [
        threading.Thread(target=lambda: stores.append(open_store(store_url))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [type(store) for store in stores] == [Store] * 6
    for store in stores:
        store.close()


def test_a_locked_sqlite_is_unavailable_for_a_while(
    tmp_path: Path, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    path = tmp_path / "lob.db"
    with DecisionService(policy, f"sqlite:///{path}") as service:
        decision = service.decide("a")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError):
            service.decide("a")
        with pytest.raises(StoreUnavailableError):
            service.record(decision.id, 1.0)
        with pytest.raises(StoreUnavailableError):
            service.forget("a")
        assert service.user("a")["plays"] == 0
        with pytest.raises(StoreUnavailableError):
            service.ready()
        other.execute("ROLLBACK")
        other.close()
        service.ready()
        assert service.record(decision.id, 1.0) == "recorded"
        assert len(list(service.log())) == 1


def test_postgresql_stopped_and_started(postgres: Postgres, policy: lob.LobTS) -> None:
    with DecisionService(policy, postgres.new_url()) as service:
        decision = service.decide("a")
        postgres.stop()
        try:
            for call in (
                lambda: service.decide("a"),
                lambda: service.record(decision.id, 1.0),
                lambda: service.user("a"),
                lambda: service.forget("a"),
                service.ready,
            ):
                with pytest.raises(StoreUnavailableError):
                    call()
        finally:
            postgres.start()
        assert service.record(decision.id, 1.0) == "recorded"
        assert service.decide("a").model == service.model
        assert len(list(service.log())) == 2


def test_connections_to_postgresql_are_bounded(
    postgres: Postgres, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "BUSY_SECONDS", 0.05)
    with DecisionService(policy, postgres.new_url()) as service, ExitStack() as held:
        for _ in range(10):
            held.enter_context(service.store.read())
        with pytest.raises(StoreUnavailableError):
            service.decide("a")
        held.close()
        assert service.decide("a").model == service.model


def test_a_lost_commit_is_tried_again_and_counts_once(
    make_service: MakeService, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection dies after the commit, before its answer."""
    service = make_service(policy)
    monkeypatch.setattr(service.store, "_pauses", PAUSES)
    lost = service.store._lost[0]
    once = [True]
    commit = service.store.engine.dialect.do_commit

    def do_commit(connection: object) -> None:
        commit(connection)  # type: ignore[arg-type]
        if once.pop() if once else False:
            raise lost("connection lost")

    monkeypatch.setattr(service.store.engine.dialect, "do_commit", do_commit)
    decision = service.decide("a")
    once.append(True)
    assert service.record(decision.id, 1.0) == "already recorded"
    assert [row.id for row in service.log()] == [decision.id]
    assert service.user("a")["plays"] == 1


def test_the_path_of_a_url_may_be_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: lob.LobTS
) -> None:
    monkeypatch.chdir(tmp_path)
    with DecisionService(policy, "sqlite:///lob.db") as service:
        service.decide("a")
        assert repr(service).endswith("'sqlite:///lob.db')")
    assert (tmp_path / "lob.db").exists()


def test_a_store_from_before_half_lives_goes_on(store_url: str, policy: lob.LobTS) -> None:
    with DecisionService(policy, store_url) as service:
        first = service.decide("ada")
        service.record(first.id, 1.0)
        with service.store.engine.connect() as connection, connection.begin():
            for table, columns in OLDER.items():
                for column in columns:
                    connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
            connection.exec_driver_sql("UPDATE meta SET value = 1 WHERE key = 'version'")
    with DecisionService(None, store_url) as service:
        service.record(service.decide("ada").id, 1.0)
        service.add_history([{"id": 1, "user": "ada", "arm": "tea", "reward": 1.0}])
        assert sum(arm["plays"] for arm in service.user("ada")["arms"].values()) == 3


def test_a_store_with_doubts_loses_them_and_nothing_else(store_url: str, policy: lob.LobTS) -> None:
    """Version 3 had a column that followed from the others."""
    query = "SELECT * FROM statistics"
    with DecisionService(replace(policy, half_life=9.0), store_url) as service:
        history = {"user": "ada", "arm": service.policy.arms[0]}
        service.add_history(
            history | {"id": i, "reward": i % 3, "time": 60.0 * i} for i in range(40)
        )
        before = service.store.rows(query)
        with service.store.engine.connect() as connection, connection.begin():
            connection.exec_driver_sql("ALTER TABLE statistics ADD COLUMN doubt FLOAT")
            connection.exec_driver_sql("UPDATE meta SET value = 3 WHERE key = 'version'")
    with DecisionService(None, store_url) as service:
        assert service.store.rows(query) == before
        assert before[0].weight > 0
        service.record(service.decide("ada").id, 1.0)
        assert service.user("ada")["plays"] == 41


OLDER = {
    "statistics": ("half_life", "epoch", "weight", "weighted", "squares"),
    "past_rewards": ("time",),
}
