"""Processes: signals, workers, refusals to start, logs."""

import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.service.http.running import (
    KEYS,
    LOB,
    PATIENCE,
    Running,
    environment,
    running,
    write_orders,
)

from lobandits.service import DecisionService


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_requests_under_way_are_finished(tmp_path: Path, number: int) -> None:
    """A request is held up half-way, the signal comes, and then the rest of the request."""
    server = Running(tmp_path)
    host, port = server.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), PATIENCE) as half:
        body = b'{"user": "slow"}'
        head = f"POST /v1/decisions HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
        half.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body[:5])
        assert server.decide("quick")  # by now the server has read the first half
        server.process.send_signal(number)
        _wait_until(lambda: _refuses(host, int(port)))
        half.sendall(body[5:])
        with half.makefile("rb") as file:
            answer = file.read()
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["arm"]
    assert server.end() == 0
    with DecisionService(None, server.store) as service:
        assert {row.user for row in service.log()} == {"slow", "quick"}


def _refuses(host: str, port: int) -> bool:
    """Whether nobody listens there; a connection that is cut meanwhile says nothing yet."""
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_two_workers_on_one_port(tmp_path: Path) -> None:
    def ask(first: int) -> None:
        """Ask 20 times, each time on a new connection, which any process may take."""
        for i in range(first, first + 20):
            with socket.create_connection((host, int(port)), PATIENCE) as line:
                decision = json.loads(_post(line, "/v1/decisions", {"user": f"u{i % 5}"}))
                report = {"decision": decision["id"], "reward": 1}
                assert _post(line, "/v1/rewards", report) == b'{"status":"recorded"}'

    with running(tmp_path, "--workers", "2") as server:
        host, port = server.url.removeprefix("http://").split(":")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(0, 200, 20)))
        plays = [server.http.get(f"/v1/users/u{i}").json()["plays"] for i in range(5)]
        assert plays == [40] * 5
        text = server.http.get("/metrics").text
        counted = re.search(r'lob_rewards_total{status="recorded"} (\S+)', text)
        assert counted is not None
        assert float(counted[1]) == 200


def _post(line: socket.socket, path: str, body: Any) -> bytes:
    """Send JSON on an open connection, and return the body of the answer."""
    data = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
    line.sendall(f"{head}content-length: {len(data)}\r\n\r\n".encode() + data)
    with line.makefile("rb") as file:
        assert file.readline().startswith(b"HTTP/1.1 200")
        size = 0
        while (header := file.readline().strip().lower()) != b"":
            size = int(header.split()[1]) if header.startswith(b"content-length") else size
        return file.read(size)


def test_a_worker_that_dies_is_replaced_and_none_outlives_its_parent(tmp_path: Path) -> None:
    server = Running(tmp_path, "--workers", "2")
    children = _children(server.process.pid)
    os.kill(children[0], signal.SIGKILL)
    server.wait_for("worker died and is replaced", exit=-signal.SIGKILL)
    assert server.decide("still there")
    _wait_until(lambda: len(_children(server.process.pid)) == 2)
    now = _children(server.process.pid)
    assert children[1] in now
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    _wait_until(lambda: not any(_lives(child) for child in now))


def _children(parent: int) -> list[int]:
    """Return the processes that run our app, oldest first."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [
        int(child) for child in found if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text()
    ]


def _lives(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().split()[2] != "Z"


def test_no_key_no_other_machines(tmp_path: Path) -> None:
    orders = str(write_orders(tmp_path))
    done = subprocess.run(
        [*LOB, "serve", "--orders", orders, "--host", "0.0.0.0"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=PATIENCE,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: --host 0.0.0.0 can be reached from other machines")
    assert done.stderr.count("\n") == 1


def test_keys_open_the_door_to_other_machines(tmp_path: Path) -> None:
    with running(tmp_path, "--host", "0.0.0.0", **KEYS) as server:
        assert server.http.get("/healthz", headers={"host": "example.com"}).status_code == 200
        assert server.http.get("/v1/model").status_code == 401


def test_logs_hold_no_names_no_rewards_and_no_keys(guarded: Running) -> None:
    key = KEYS["LOB_ADMIN_KEY"]
    headers = {"authorization": f"Bearer {key}"}
    decision = guarded.post("/v1/decisions", {"user": "secret-name"}, key).json()
    report = {"decision": decision["id"], "reward": 123.456}
    guarded.post("/v1/rewards", report, key)
    guarded.http.get("/v1/users/secret-name", headers=headers)
    guarded.http.get("/v1/users/secret-name/../x?secret-name", headers=headers)
    guarded.http.get("/secret-name", headers=headers)
    guarded.http.request("SECRET-NAME", "/healthz", headers=headers)
    guarded.post("/v1/rewards", {**report, "reward": 654.321}, key)
    guarded.http.get("/healthz?end")
    guarded.wait_for("request", route="/v1/users/{user}", status=200)
    guarded.wait_for("request", route="/healthz", status=405)
    guarded.wait_for("request", route="/healthz", status=200)
    text = "".join(guarded.lines)
    for secret in ("secret-name", "SECRET-NAME", "123.456", "654.321", *KEYS.values()):
        assert secret not in text
    notice = "lobandits: compiling"  # on standard error, of the first server on a machine
    lines = [json.loads(line) for line in guarded.lines if not line.startswith(notice)]
    requests = [line for line in lines if line["event"] == "request"]
    assert all(set(line) == FIELDS for line in requests)


FIELDS = {"time", "level", "event", "method", "route", "status", "ms"}


def test_a_new_model_is_served_without_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        old = server.decide("ada", allowed=["tea"])
        orders = write_orders(tmp_path, "new.json", ("milk", "water", "juice", "tea"))
        put = [*LOB, "model", "put", "--orders", str(orders), "--store", server.store]
        done = subprocess.run(put, capture_output=True, text=True, check=True)
        assert done.stdout.startswith("model 2-")
        _wait_until(lambda: server.decide("bob")["model"] != old["model"])
        assert server.decide("bob", allowed=["water"])["arm"] == "water"
        report = {"decision": old["id"], "reward": 2.0}
        assert server.post("/v1/rewards", report).json() == {"status": "recorded"}
        assert server.http.get("/v1/users/ada").json()["arms"]["tea"] == {"plays": 1, "mean": 2.0}
        new = server.decide("bob")["model"]
    with running(tmp_path) as server:  # with the old orders, which it has had
        assert server.decide("bob")["model"] == new
        warnings = [line for line in server.lines if "a newer model was put after" in line]
        assert [json.loads(line)["model"] for line in warnings] == [new]


def test_decisions_that_nobody_rewards(tmp_path: Path) -> None:
    with running(tmp_path, "--reward-wait", "1", "--default-reward", "-1") as server:
        decision = server.decide("ada")
        _wait_until(lambda: server.http.get("/v1/users/ada").json()["plays"] > 0)
        known = server.http.get("/v1/users/ada").json()
        assert known["arms"][decision["arm"]] == {"plays": 1, "mean": -1.0}
        late = server.post("/v1/rewards", {"decision": decision["id"], "reward": 1})
        assert (late.status_code, late.json()["error"]["code"]) == (409, "expired")


MINE = """
from dataclasses import dataclass

import lobandits as lob


@dataclass(frozen=True)
class Mine(lob.UCB):
    name = "mine"
"""


def test_a_policy_of_ones_own_in_several_processes(tmp_path: Path) -> None:
    """Each process imports it; a server that does not says which model it cannot read, and why."""
    (tmp_path / "mine.py").write_text(MINE)
    options = ("--import", str(tmp_path / "mine.py"), "--policy", "mine")
    with running(tmp_path, *options, "--workers", "2") as server:
        assert {server.decide(f"u{i}")["arm"] for i in range(30)} == {"tea", "milk", "juice"}
        model = server.http.get("/v1/model").json()
        assert model["policy"] == "mine"
    done = subprocess.run(
        [*LOB, "serve", "--store", server.store],
        env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    reason = f"model {model['model']} of {server.store} cannot be read: unknown policy 'mine'"
    assert reason in done.stderr
    assert "(--import)" in done.stderr
