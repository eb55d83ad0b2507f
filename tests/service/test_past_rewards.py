"""Rewards of the time before the service: known users do not start cold, each counts once."""

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select
from tests.cli.test_service import lines, refused
from tests.service.conftest import MakeService
from tests.service.http.running import write_orders

import lobandits as lob
import lobandits.service.errors as er
from lobandits.service import DecisionService
from lobandits.service.store import tables


def row(key: Any, user: Any = "ada", arm: Any = "tea", reward: Any = 4.0) -> dict[str, Any]:
    return {"id": key, "user": user, "arm": arm, "reward": reward}


def test_a_known_user_does_not_start_cold(service: DecisionService, policy: lob.LobTS) -> None:
    """The decision is that of the policy on these rewards, as if they had been decided for."""
    rewards = {"tea": 0.0, "milk": 1.0, "juice": 6.0}
    rows = [row(f"{arm} {i}", arm=arm, reward=rewards[arm]) for arm in rewards for i in range(5)]
    assert service.add_history(rows) == ["recorded"] * 15
    state = policy.start()
    for past in rows:
        policy.record(state, policy.arms.index(past["arm"]), past["reward"])
    chances = dict(zip(policy.arms, policy.probabilities(state)[0].tolist(), strict=True))
    decision = service.decide("ada")
    assert decision.probability == pytest.approx(chances[decision.arm])
    assert chances["juice"] > 0.99
    assert service.decide("new").probability == pytest.approx(1 / 3)
    assert service.user("ada")["arms"]["juice"] == {"plays": 5, "mean": 6.0}
    assert len(list(service.log())) == 2
    assert sum(service.activity()["rewards"]) == 0


def test_each_counts_once(service: DecisionService) -> None:
    assert service.add_history([row(1), row(2), row(1)]) == [
        "recorded",
        "recorded",
        "already recorded",
    ]
    again = [row("1"), row(3), row(2, reward=5.0), row(1, user="bob"), row(1, arm="milk")]
    assert service.add_history(again) == ["already recorded", "recorded", *["conflict"] * 3]
    assert service.user("ada")["arms"]["tea"] == {"plays": 3, "mean": 4.0}
    assert service.add_history([]) == []


def test_ids_are_of_one_problem(service: DecisionService) -> None:
    service.put_model(lob.UCB(1, 1.0, arms=("tea",)), "news")
    assert service.add_history([row(1)]) == ["recorded"]
    assert service.add_history([row(1)], "news") == ["recorded"]
    assert (service.user("ada")["plays"], service.user("ada", "news")["plays"]) == (1, 1)


def test_what_is_wrong_is_refused_and_leaves_nothing(service: DecisionService) -> None:
    for wrong, code in (
        (row(1, arm="beer"), "unknown_arm"),
        (row(1, arm=7), "invalid_arm"),
        (row(1, user=""), "invalid_user"),
        (row(1, reward="4"), "invalid_reward"),
        (row(1, reward=np.nan), "invalid_reward"),
        (row(""), "invalid_id"),
        (row(None), "invalid_id"),
        (row("\ud800"), "invalid_id"),
    ):
        with pytest.raises(er.ServiceError) as caught:
            service.add_history([row(2), wrong])
        assert caught.value.code == code
    with pytest.raises(er.UnknownProblemError):
        service.add_history([row(2)], "nothing")
    with service.store.read() as connection:
        assert connection.scalar(select(func.count()).select_from(tables.past_rewards)) == 0
    with pytest.raises(er.UnknownUserError):
        service.user("ada")


def test_forgetting_forgets_them_too(service: DecisionService) -> None:
    service.add_history([row(1), row(2, user="bob")])
    assert service.forget("ada") == 0
    with pytest.raises(er.UnknownUserError):
        service.user("ada")
    assert service.user("bob")["plays"] == 1
    assert service.add_history([row(1), row(2, user="bob")]) == ["recorded", "already recorded"]


def test_two_processes_at_once_count_once(make_service: MakeService, policy: lob.LobTS) -> None:
    services = [make_service(policy), make_service()]
    rows = [row(i, user=f"u{i % 5}", reward=0.25) for i in range(200)]
    statuses: list[str] = []

    def work(service: DecisionService, first: int) -> None:
        for start in range(0, 200, 20):
            place = (start + first) % 200
            statuses.extend(service.add_history(rows[place : place + 20]))

    threads = [
        threading.Thread(target=work, args=(service, first))
        for service, first in zip(services * 2, (0, 0, 100, 40), strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses.count("recorded") == 200
    assert statuses.count("already recorded") == 600
    assert sum(services[0].user(f"u{i}")["plays"] for i in range(5)) == 200


def test_numbers_as_users_and_booleans_as_rewards(service: DecisionService) -> None:
    """As they come from a database; 42 and "42" are one user, true is 1."""
    number: Any
    for number in (42, np.int64(42), "42"):
        decision = service.decide(number, ["tea"])
        flag: Any = True
        assert service.record(decision.id, flag) == "recorded"
        assert service.record(decision.id, 1.0) == "already recorded"
    many: Any = [42, {"user": 42}]
    assert len(service.decide_many(many)) == 2
    assert service.user("42")["arms"]["tea"] == {"plays": 3, "mean": 1.0}
    for wrong in (True, 1.5, 2**63, 10**5000, None):
        with pytest.raises(er.InvalidRequestError):
            service.decide(wrong)  # type: ignore[arg-type]


def test_the_command(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'lob.db'}"
    lines("model", "put", "--orders", str(write_orders(tmp_path)), "--store", store)
    logs = tmp_path / "logs.csv"
    logs.write_text("who,what,stars\n7,tea,4\n7,tea,2\n8,beer,1\n8,milk,0.5\n")
    words = ("import", str(logs), "--user", "who", "--arm", "what", "--reward", "stars")
    told = ["3 recorded, 1 left out", "arms that the model does not have: beer"]
    assert lines(*words, "--store", store) == told
    logs.rename(tmp_path / "other.csv")
    words = ("import", str(tmp_path / "*.csv"), *words[2:])
    assert lines(*words, "--store", store)[0] == "3 already recorded, 1 left out"
    with DecisionService(None, store) as service:
        assert service.user("7")["arms"]["tea"] == {"plays": 2, "mean": 3.0}
        assert service.user("8")["arms"]["milk"] == {"plays": 1, "mean": 0.5}


def test_the_command_with_ids(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'lob.db'}"
    lines("model", "put", "--orders", str(write_orders(tmp_path)), "--store", store)
    logs = tmp_path / "logs.csv"
    logs.write_text("event,user,arm,reward\na,7,tea,true\nb,7,tea,false\n")
    words = ("import", str(logs), "--id", "event", "--store", store)
    assert lines(*words) == ["2 recorded"]
    logs.write_text("event,user,arm,reward\nb,7,tea,false\nc,7,tea,true\na,7,milk,true\n")
    assert lines(*words) == ["1 recorded, 1 already recorded, 1 conflict"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,arm,reward\n7,tea,4\n7,tea,\n", "row 2"),
        ("user,arm,reward\n7,tea,4\n,tea,1\n", "'user' of"),
        ("user,arm,reward\n7,beer,4\n", "no arm of"),
        ("user,arm\n7,beer\n", "no column 'reward'"),
    ],
)
def test_faulty_logs_are_refused_as_a_whole(tmp_path: Path, text: str, message: str) -> None:
    store = f"sqlite:///{tmp_path / 'lob.db'}"
    lines("model", "put", "--orders", str(write_orders(tmp_path)), "--store", store)
    (tmp_path / "logs.csv").write_text(text)
    assert message in refused("import", str(tmp_path / "logs.csv"), "--store", store)
    with DecisionService(None, store) as service, pytest.raises(er.UnknownUserError):
        service.user("7")
