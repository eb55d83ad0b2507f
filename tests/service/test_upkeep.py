"""What a store needs over the years: backups that restore, and a log that stops growing."""

import shutil
import sqlite3
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.cli.test_service import lines, refused
from tests.service.conftest import MakeService, Postgres

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service import DecisionService, open_store
from lobandits.service.errors import UnknownDecisionError
from lobandits.service.store.backup import back_up
from lobandits.service.store.history import prune

DAY = 86_400.0


def test_a_backup_of_a_store_in_use_restores_all_that_was_acknowledged(
    tmp_path: Path, policy: lob.LobTS
) -> None:
    """And nothing half: statistics are those of the rewards that the copy has."""
    acknowledged: list[str] = []
    stop = threading.Event()
    with DecisionService(policy, f"sqlite:///{tmp_path / 'lob.db'}?synchronous=normal") as service:

        def play(user: str) -> None:
            while not stop.is_set():
                decision = service.decide(user)
                service.record(decision.id, 1.0)
                acknowledged.append(decision.id)

        threads = [threading.Thread(target=play, args=(f"u{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        while len(acknowledged) < 200:
            time.sleep(0.01)
        before = list(acknowledged)
        copied = back_up(service.store, tmp_path / "backup.db")
        stop.set()
        for thread in threads:
            thread.join()
    assert copied.decisions >= len(before)
    assert (tmp_path / "backup.db").stat().st_mode & 0o777 == 0o600
    shutil.copy(tmp_path / "backup.db", tmp_path / "restored.db")
    with DecisionService(None, f"sqlite:///{tmp_path / 'restored.db'}") as restored:
        rows = {row.id: row for row in restored.log()}
        assert len(rows) == copied.decisions
        assert all(rows[key].reward == 1.0 for key in before)
        rewarded = sum(row.reward is not None for row in rows.values())
        assert sum(restored.user(f"u{i}")["plays"] for i in range(4)) == rewarded
        assert restored.record(restored.decide("u0").id, 1.0) == "recorded"


def test_a_plain_copy_of_a_store_in_use_lacks_rows(tmp_path: Path, policy: lob.LobTS) -> None:
    """What the documents warn of."""
    with DecisionService(policy, f"sqlite:///{tmp_path / 'lob.db'}") as service:
        service.decide_many([f"u{i}" for i in range(50)])
        shutil.copy(tmp_path / "lob.db", tmp_path / "copy.db")
        back_up(service.store, tmp_path / "backup.db")
    found = []
    for name in ("copy.db", "backup.db"):
        with sqlite3.connect(tmp_path / name) as connection:
            found += connection.execute("SELECT count(*) FROM decisions").fetchone()
        connection.close()
    assert found[1] == 50 > found[0]


def test_the_command_to_back_up(tmp_path: Path, policy: lob.LobTS) -> None:
    store, out = f"sqlite:///{tmp_path / 'lob.db'}", str(tmp_path / "backup.db")
    assert "there is no store" in refused("backup", "--store", store, "--out", out)
    with DecisionService(policy, store) as service:
        service.decide_many(["a", "b", "a"])
    (line,) = lines("backup", "--store", store, "--out", out)
    assert line == f"3 decisions and 2 users saved to {out}"
    assert lines("backup", "--store", store, "--out", out) == [line]
    itself = str(tmp_path / "lob.db")
    assert "is the store itself" in refused("backup", "--store", store, "--out", itself)
    assert {file.name for file in tmp_path.iterdir()} == {"lob.db", "backup.db"}


def test_a_damaged_store_is_noticed(tmp_path: Path, policy: lob.LobTS) -> None:
    path = tmp_path / "lob.db"
    with DecisionService(policy, f"sqlite:///{path}") as service:
        for _ in range(20):
            service.decide_many([f"user {i}" for i in range(200)])
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\xff" * 8192)
    store = open_store(f"sqlite:///{path}")
    with pytest.raises(LobInputError, match=r"is damaged|cannot write"):
        back_up(store, tmp_path / "backup.db")
    store.close()
    assert not (tmp_path / "backup.db").exists()


def test_postgresql_has_its_own_tools(postgres: Postgres, tmp_path: Path) -> None:
    store = open_store(postgres.new_url())
    with pytest.raises(LobInputError, match="pg_dump"):
        back_up(store, tmp_path / "backup.db")
    store.close()


def age(service: DecisionService, numbers: list[int], seconds: float) -> None:
    """Let decisions be older than they are."""

    def older(n: int) -> None:
        statement = "UPDATE decisions SET time = time - :age WHERE number = :number"
        service.store.execute(statement, age=int(seconds * 1e6), number=n)

    for number in numbers:
        older(number)


def test_old_decisions_go_and_statistics_stay(make_service: MakeService, policy: lob.LobTS) -> None:
    service = make_service(policy, keep=90 * DAY)
    made = service.decide_many(["a"] * 30)
    service.record_many([(d.id, 1.0) for d in made[:20]])
    numbers = [row.number for row in service.log()]
    age(service, [*numbers[:3], *numbers[4:25]], 91 * DAY)
    age(service, numbers[3:4], -10 * DAY)  # a clock was wrong
    service.expire()
    assert [row.number for row in service.log()] == [numbers[3], *numbers[25:]]
    assert service.user("a")["plays"] == 20
    with pytest.raises(UnknownDecisionError):
        service.record(made[24].id, 1.0)
    assert service.record(made[29].id, 1.0) == "recorded"
    service.expire()
    assert service.user("a")["plays"] == 21


def test_decisions_go_in_small_steps(make_service: MakeService, policy: lob.LobTS) -> None:
    service = make_service(policy)
    service.decide_many(["a"] * 95)
    service.store.execute("UPDATE decisions SET time = 1000")
    seen: list[int] = []
    execute = service.store.execute

    def watched(statement: str, **values: object) -> None:
        execute(statement, **values)
        with service.store.read() as connection:
            seen.append(connection.scalar(text("SELECT count(*) FROM decisions")) or 0)

    service.store.execute = watched  # type: ignore[method-assign]
    assert prune(service.store, 2000, step=10) == 95
    assert seen == [85, 75, 65, 55, 45, 35, 25, 15, 5, 0]


def test_decisions_are_kept_while_rewards_may_come(policy: lob.LobTS, tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match="keep them for longer"):
        DecisionService(policy, f"sqlite:///{tmp_path / 'a.db'}", reward_wait=100.0, keep=50.0)
    assert not (tmp_path / "a.db").exists()
    for wrong in ("90", "d", "90 days", "-1d", ""):
        assert "--keep must be" in refused("serve", "--keep", wrong)
    for right in ("4w", "1.5d"):
        elsewhere = refused("serve", "--keep", right, "--host", "0.0.0.0")
        assert "--host 0.0.0.0 can be reached" in elsewhere
