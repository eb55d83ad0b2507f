"""The client: the methods of the service, over a network that fails."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.service.http.running import ARMS, KEYS, Running, running

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.service import DecisionService, new_id
from lobandits.service.errors import (
    ForbiddenError,
    IdConflictError,
    InvalidRequestError,
    NoEarlierModelError,
    RewardConflictError,
    ServiceError,
    StoreUnavailableError,
    UnauthorizedError,
    UnknownArmError,
    UnknownDecisionError,
    UnknownProblemError,
    UnknownUserError,
    error_of,
)


@pytest.fixture(scope="module")
def client(guarded: Running) -> Iterator[lob.Client]:
    with lob.Client(guarded.url, KEYS["LOB_ADMIN_KEY"]) as found:
        yield found


def test_it_has_the_methods_of_the_service() -> None:
    inside = {"run", "reload", "expire", "policy", "served", "store"}
    theirs = {name for name in vars(DecisionService) if not name.startswith("_")} - inside
    assert theirs <= {name for name in vars(lob.Client) if not name.startswith("_")}


def test_a_day_in_its_life(client: lob.Client) -> None:
    decision = client.decide("eve/😀\n", allowed=iter(["tea", "milk"]))
    assert decision.arm in ("tea", "milk")
    half: Any = np.float32(0.5)
    assert client.record(decision.id, half) == "recorded"
    assert client.record(decision.id, 0.5) == "already recorded"
    assert client.user("eve/😀\n")["arms"][decision.arm] == {"plays": 1, "mean": 0.5}
    assert {row["arm"] for row in client.explain("eve/😀\n")["why"]} == set(ARMS)
    assert decision.id in {row["id"] for row in client.log()}
    assert client.activity(minutes=5)["model"] == client.model == decision.model
    client.ready()
    assert client.forget("eve/😀\n") == 1
    with pytest.raises(UnknownUserError):
        client.user("eve/😀\n")


def test_many(client: lob.Client) -> None:
    key = new_id()
    decisions = client.decide_many(
        ["a", {"user": "b", "allowed": ["milk"]}, {"user": "c", "id": key}]
    )
    assert [d.arm for d in decisions[1:2]] == ["milk"]
    assert decisions[2].id == key
    rewards: list[Any] = [
        (decisions[0].id, 1.0),
        {"decision": decisions[1].id, "reward": 2},
        (new_id(), 0),
    ]
    assert client.record_many(rewards) == ["recorded", "recorded", "unknown decision"]
    assert client.decide_many([]) == []
    assert client.record_many([]) == []


def test_errors_are_those_of_the_service(client: lob.Client, guarded: Running) -> None:
    decision = client.decide("u")
    client.record(decision.id, 1)
    nobody, decider = lob.Client(guarded.url), lob.Client(guarded.url, KEYS["LOB_API_KEY"])
    cases: list[tuple[type[Exception], Any]] = [
        (UnknownArmError, lambda: client.decide("u", allowed=["tee"])),
        (InvalidRequestError, lambda: client.decide("")),
        (InvalidRequestError, lambda: client.explain("x" * 300)),
        (IdConflictError, lambda: client.decide("other", id=decision.id)),
        (UnknownDecisionError, lambda: client.record("no", 1)),
        (RewardConflictError, lambda: client.record(decision.id, 2)),
        (LobInputError, lambda: client.record(decision.id, float("nan"))),
        (LobInputError, lambda: client.record(decision.id, "one")),  # type: ignore[arg-type]
        (LobInputError, lambda: client.record(decision.id, 1j)),  # type: ignore[arg-type]
        (LobInputError, lambda: client.decide("u", allowed="tea")),
        (LobInputError, lambda: lob.Client("127.0.0.1:80")),
        (LobInputError, lambda: lob.Client("http://127.0.0.1", retries=-1)),
        (LobInputError, lambda: lob.Client("http://127.0.0.1", timeout=0)),
        (LobInputError, lambda: client.activity(minutes=0)),
        (LobInputError, lambda: client.activity(minutes="1 2")),  # type: ignore[arg-type]
        (UnauthorizedError, lambda: nobody.model),
        (ForbiddenError, lambda: decider.model),
        (ForbiddenError, lambda: list(decider.log())),
    ]
    with nobody, decider:
        for kind, call in cases:
            with pytest.raises(kind) as caught:
                call()
            assert isinstance(caught.value, lob.LobError)


ALONE = """
import sys

needed = {name for name in sys.stdlib_module_names} | {"lobandits"}
needed |= {"httpx", "httpcore", "h11", "anyio", "sniffio", "certifi", "idna", "typing_extensions"}


class Absent:
    \"\"\"Finds nothing but Python itself, httpx with what it needs, and us.\"\"\"

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in needed:
            raise ModuleNotFoundError(f"{name} is absent", name=name)


sys.meta_path.insert(0, Absent())
import lobandits as lob

url, key = sys.argv[1:]
with lob.Client(url, key) as client:
    decision = client.decide("alone", allowed=["tea", "milk"])
    print(client.record(decision.id, 1.0), client.explain("alone")["plays"])
    try:
        client.decide("alone", allowed=["tee"])
    except lob.LobInputError as error:
        print(type(error).__name__)
try:
    lob.DecisionService
except ImportError as error:
    print(error)
"""


def test_it_works_with_httpx_alone(guarded: Running) -> None:
    """No NumPy, Numba, SQLAlchemy, ...: whatever is not Python's or httpx's cannot be imported."""
    command = [sys.executable, "-c", ALONE, guarded.url, KEYS["LOB_ADMIN_KEY"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["recorded 1", "UnknownArmError", "numpy is absent"]


def test_going_back(tmp_path: Path) -> None:
    with running(tmp_path) as server, lob.Client(server.url) as client:
        first = client.model
        second = client.put_model(lob.UCB(2, sigma=1.0, arms=("tea", "water")))
        assert client.model == second != first
        assert client.rollback() == client.model == client.decide("u").model == first
        with pytest.raises(NoEarlierModelError, match="no earlier model"):
            client.rollback()


def test_several_problems(tmp_path: Path) -> None:
    news = lob.UCB(2, sigma=1.0, arms=("sports", "tea"))
    with (
        running(tmp_path) as server,
        lob.Client(server.url) as client,
        lob.Client(server.url, problem="news") as reader,
    ):
        with pytest.raises(UnknownProblemError, match="there is no problem 'news'"):
            reader.decide("ada")
        name = client.put_model(news, problem="news")
        assert reader.model == name != client.model
        assert reader.problems == client.problems == {"default": client.model, "news": name}
        mine, theirs = reader.decide_many(["ada", {"user": "ada", "problem": "default"}])
        assert (mine.model, theirs.model) == (name, client.model)
        assert reader.record_many([(mine.id, 1.0), (theirs.id, 2.0)]) == ["recorded"] * 2
        assert set(reader.user("ada")["arms"]) == set(news.arms)
        assert [row["id"] for row in reader.log()] == [mine.id]
        assert [row["id"] for row in reader.log(problem="default")] == [theirs.id]
        assert sum(reader.activity()["rewards"]) == 1
        with pytest.raises(NoEarlierModelError):
            reader.rollback()
        assert f'arm="{mine.arm}",problem="news"' in server.http.get("/metrics").text
        assert server.post("/v1/decisions", {"user": "a", "problem": "a b"}).status_code == 422
        assert server.http.get("/v1/model?problem=nothing").status_code == 404
        assert client.forget("ada") == 2


def test_history(client: lob.Client, guarded: Running) -> None:
    """Rewards of the time before; numbers as users, booleans as rewards."""
    rows: list[dict[str, Any]] = [
        {"id": number, "user": 4242, "arm": "tea", "reward": number == 1} for number in range(3)
    ]
    assert client.add_history(rows) == ["recorded"] * 3
    assert client.add_history([*rows[:1], rows[0] | {"arm": "milk"}]) == [
        "already recorded",
        "conflict",
    ]
    assert client.user("4242")["arms"]["tea"] == {"plays": 3, "mean": pytest.approx(1 / 3)}
    with pytest.raises(UnknownArmError):
        client.add_history([rows[0] | {"id": 9, "arm": "beer"}])
    decide = KEYS["LOB_API_KEY"]
    assert guarded.post("/v1/history", {"rewards": rows}, decide).status_code == 403
    decision = guarded.post("/v1/decisions", {"user": 4242}, decide).json()["id"]
    for reward in (True, 1):
        report = {"decision": decision, "reward": reward}
        assert guarded.post("/v1/rewards", report, decide).status_code == 200
    for user in (True, 1.5, None, 2**63):
        assert guarded.post("/v1/decisions", {"user": user}, decide).status_code == 422
    assert client.forget("4242") == 1


def test_unknown_codes_are_kept() -> None:
    assert error_of("new_code", "x").code == "new_code"
    assert type(error_of("new_code", "x")) is ServiceError
    assert error_of("invalid_user", "x").code == "invalid_user"


def test_threads_share_a_client(client: lob.Client) -> None:
    def play(user: str) -> str:
        return client.record(client.decide(user).id, 1.0)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(play, ["shared"] * 100)) == {"recorded"}
    assert client.user("shared")["plays"] == 100


@contextmanager
def unreliable(target: tuple[str, int], cut: int) -> Iterator[str]:
    """Pass connections on to ``target``; the first ``cut`` answers are lost on their way."""
    answers = 0

    def ask(source: socket.socket, there: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                there.sendall(data)
            there.shutdown(socket.SHUT_WR)

    def answer(source: socket.socket, there: socket.socket) -> None:
        nonlocal answers
        with source, there, suppress(OSError):
            while data := there.recv(65536):
                answers += 1
                if answers <= cut:
                    source.shutdown(socket.SHUT_RDWR)
                    return
                source.sendall(data)

    def accept() -> None:
        with suppress(OSError):
            while True:
                ends = listener.accept()[0], socket.create_connection(target)
                for pump in (ask, answer):
                    threading.Thread(target=pump, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def test_lost_answers_count_once(guarded: Running, client: lob.Client) -> None:
    host, port = guarded.url.removeprefix("http://").split(":")
    before = len(list(client.log()))
    with unreliable((host, int(port)), cut=2) as url, lob.Client(url, KEYS["LOB_API_KEY"]) as far:
        decision = far.decide("far away")
        assert far.decide("far away", id=decision.id) == decision
    with unreliable((host, int(port)), cut=1) as url, lob.Client(url, KEYS["LOB_API_KEY"]) as far:
        assert far.record(decision.id, 3.0) == "already recorded"  # the first time came through
    assert client.user("far away")["plays"] == 1
    assert len(list(client.log())) == before + 1


def test_going_back_is_asked_for_once(tmp_path: Path) -> None:
    with running(tmp_path) as server, lob.Client(server.url) as near:
        names = [near.model]
        names += [near.put_model(lob.UCB(2, sigma=1.0, arms=("tea", arm))) for arm in "abc"]
        host, port = server.url.removeprefix("http://").split(":")
        with unreliable((host, int(port)), cut=1) as url, lob.Client(url) as far:
            with pytest.raises(StoreUnavailableError):
                far.rollback()
            assert far.model == names[2]


def test_it_gives_up(guarded: Running) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        began = time.monotonic()
        with (
            lob.Client(url, timeout=0.1, retries=1) as client,
            pytest.raises(StoreUnavailableError),
        ):
            client.decide("u")
        assert time.monotonic() - began < 5
    with lob.Client(url, retries=0) as client, pytest.raises(StoreUnavailableError, match="answer"):
        client.ready()
    with lob.Client(url) as client, pytest.raises(StoreUnavailableError, match="does not answer"):
        list(client.log())


def test_something_else_at_the_address(guarded: Running) -> None:
    url = f"{guarded.url}/static/page.css?"
    with lob.Client(url) as client, pytest.raises(ServiceError, match="answered no JSON"):
        client.ready()


def test_a_server_that_is_away_for_a_moment(tmp_path: Path) -> None:
    with running(tmp_path) as first:
        port = first.url.rpartition(":")[2]
        client = lob.Client(first.url, retries=30)
        decision = client.decide("ada")
    with ThreadPoolExecutor(1) as pool, client:
        later = pool.submit(client.record, decision.id, 1.0)
        with running(tmp_path, "--port", port):
            assert later.result() == "recorded"
