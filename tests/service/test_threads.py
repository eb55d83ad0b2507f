"""Many threads at once: every reward counts once, and commits are shared."""

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.service import DecisionService, new_id
from lobandits.service import errors as er
from lobandits.service.store import sqlite


def together(count: int, work: Callable[[int], object]) -> None:
    """Run ``work(0)``, ``work(1)``, ... in threads, and raise what one of them raised."""
    failed: list[BaseException] = []

    def guarded(i: int) -> None:
        try:
            work(i)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]


def test_threads_of_two_services_on_one_store(make_service: MakeService, policy: lob.LobTS) -> None:
    services = [make_service(policy), make_service()]
    threads, rounds = 12, 15
    recorded: list[str] = []

    def work(i: int) -> None:
        mine, other = services[i % 2], services[(i + 1) % 2]
        for t in range(rounds):
            decision = mine.decide(f"user {(i + t) % 5}")
            recorded.append(other.record(decision.id, 1.0))
            recorded.append(mine.record(decision.id, 1.0))

    together(threads, work)
    total = threads * rounds
    assert sorted(recorded) == ["already recorded"] * total + ["recorded"] * total
    assert sum(services[0].user(f"user {i}")["plays"] for i in range(5)) == total
    report = services[1].activity(minutes=10)
    assert (sum(report["decisions"]), sum(report["rewards"])) == (total, total)


def test_one_id_in_many_threads_decides_once(make_service: MakeService, policy: lob.LobTS) -> None:
    services = [make_service(policy), make_service()]
    keys = [new_id() for _ in range(10)]
    seen: list[Any] = []
    together(8, lambda i: seen.extend(services[i % 2].decide("ada", id=key) for key in keys))
    assert len(set(seen)) == 10
    assert len(list(services[0].log())) == 10


def test_one_reward_in_many_threads_counts_once(
    make_service: MakeService, policy: lob.LobTS
) -> None:
    services = [make_service(policy), make_service()]
    decisions = services[0].decide_many(["ada"] * 10)
    statuses: list[str] = []

    def work(i: int) -> None:
        for d in decisions if i % 3 else reversed(decisions):
            statuses.extend(services[i % 2].record_many([(d.id, float(i))]))

    together(8, work)
    assert statuses.count("recorded") == 10
    assert services[0].user("ada")["plays"] == 10


def test_forgetting_amid_traffic_leaves_nothing_behind(
    make_service: MakeService, policy: lob.LobTS
) -> None:
    services = [make_service(policy), make_service()]
    stop = time.monotonic() + 1.5

    def work(i: int) -> None:
        service = services[i % 2]
        while time.monotonic() < stop:
            if i == 0:
                service.forget("ada")
            else:
                decision = service.decide("ada")
                service.record_many([(decision.id, 1.0)])

    together(6, work)
    service = services[0]
    rewarded = [row for row in service.log() if row.reward is not None]
    plays = service.user("ada")["plays"] if rewarded else 0
    assert plays == len(rewarded)
    service.forget("ada")
    assert list(service.log()) == []
    with service.store.read() as connection:
        for table in ("users", "statistics", "decisions"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_new_models_amid_traffic(make_service: MakeService) -> None:
    def ucb(*arms: str) -> lob.UCB:
        return lob.UCB(len(arms), 1.0, arms=arms)

    models = [ucb("a", "b"), ucb("b", "c", "a"), ucb("d")]
    services = [make_service(models[0]), make_service()]
    names: dict[str, lob.Policy] = {services[0].model: models[0]}
    done: list[Any] = []

    def work(i: int) -> None:
        for t in range(12):
            if i == 0:
                policy = models[t % 3]
                names[services[0].put_model(policy)] = policy
            else:
                decision = services[i % 2].decide(f"u{i}")
                services[i % 2].record(decision.id, 1.0)
                done.append(decision)

    together(5, work)
    assert all(decision.arm in names[decision.model].arms for decision in done)
    assert sum(services[0].user(f"u{i}")["plays"] for i in range(1, 5)) == len(done)


def test_every_thread_raises_an_error_of_its_own(
    tmp_path: Path, policy: lob.LobTS, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.05)
    failed: list[er.StoreUnavailableError] = []
    with DecisionService(policy, f"sqlite:///{tmp_path / 'lob.db'}") as service:
        other = sqlite3.connect(tmp_path / "lob.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        def work(i: int) -> None:
            with pytest.raises(er.StoreUnavailableError) as caught:
                service.decide("ada")
            failed.append(caught.value)

        together(10, work)
        other.close()
        assert len({id(error) for error in failed}) == 10
        assert service.decide("ada").model == service.model
