"""Stopped under load: what was sent before the signal is answered, nothing is begun after it."""

import http.client
import json
import os
import random
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.service.http.running import LOB, PATIENCE, Running, environment, write_orders

from lobandits.service import DecisionService

CLIENTS = 6
SOON = 0.5  # seconds after the signal, from when on no request is begun
LONGEST = 10.0  # seconds from the signal to the exit


class Sent(NamedTuple):
    """A request: when it began, when it was on its way, and the id that was answered."""

    began: float
    sent: float
    answer: str | None


def _play(port: int, seed: int, stop: threading.Event, done: list[Sent]) -> None:
    """Ask for decisions until nobody listens; odd clients connect anew each time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    while not stop.is_set():
        began = time.monotonic()
        sent, answer = float("inf"), None
        try:
            body = json.dumps({"user": f"u{seed} {len(done) % 20}"})
            connection.request("POST", "/v1/decisions", body, {"content-type": "application/json"})
            sent = time.monotonic()
            got = connection.getresponse()
            answer = json.loads(got.read())["id"] if got.status == 200 else None
        except (OSError, http.client.HTTPException, KeyError):
            connection.close()
            stop.wait(0.02)
        done.append(Sent(began, sent, answer))
        if seed % 2:
            connection.close()
    connection.close()


def stop_under_load(folder: Path, store: str, workers: int, seed: int) -> None:
    """Start a server, load it, end it, and check every request of every client."""
    server = Running(folder, "--workers", str(workers), "--store", store)
    port, stop = int(server.url.rpartition(":")[2]), threading.Event()
    clients: list[list[Sent]] = [[] for _ in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        playing = [
            pool.submit(_play, port, CLIENTS * seed + i, stop, done)
            for i, done in enumerate(clients)
        ]
        time.sleep(random.Random(seed).uniform(0.3, 0.8))
        while min(map(len, clients)) < 2 and not any(client.done() for client in playing):
            time.sleep(0.01)  # until all of them are at it
        signalled = time.monotonic()
        code = server.end()
        took = time.monotonic() - signalled
        stop.set()
    assert not any(client.exception() for client in playing)
    requests = [request for done in clients for request in done]
    assert (code, took < LONGEST) == (0, True), f"{code} after {took} s: {server.lines}"
    before = [request for request in requests if request.sent < signalled]
    assert len(before) > CLIENTS
    assert all(request.answer for request in before), "a request under way was not answered"
    late = [request for request in requests if request.began > signalled + SOON]
    assert not any(request.answer for request in late), "a request was begun after the signal"
    with DecisionService(None, store) as service:
        known = {row.id for row in service.log()}
    assert {request.answer for request in requests if request.answer} <= known


@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_under_load(tmp_path: Path, store_url: str, workers: int) -> None:
    stop_under_load(tmp_path, store_url, workers, workers)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_twenty_stops_under_load(tmp_path: Path, store_url: str, workers: int) -> None:
    for seed in range(20):
        stop_under_load(tmp_path, store_url, workers, seed)


def test_a_signal_during_the_start_is_no_failure(tmp_path: Path) -> None:
    marker = tmp_path / "importing"
    (tmp_path / "mine.py").write_text(
        f"import pathlib, time\npathlib.Path({str(marker)!r}).touch()\ntime.sleep({PATIENCE})\n"
    )
    command = [*LOB, "serve", "--orders", str(write_orders(tmp_path)), "--port", "0"]
    process = subprocess.Popen(
        [*command, "--import", str(tmp_path / "mine.py")], cwd=tmp_path, env=environment()
    )
    end = time.monotonic() + PATIENCE
    while not marker.exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LONGEST) == 0


def test_folders_of_killed_servers_are_removed(tmp_path: Path) -> None:
    options = ("--workers", "2")
    os.environ["TMPDIR"] = str(tmp_path)
    try:
        killed = Running(tmp_path, *options)
        assert len(list(tmp_path.glob("lob-metrics-*"))) == 1
        killed.end(signal.SIGKILL)
        again = Running(tmp_path, *options)
        assert len(list(tmp_path.glob("lob-metrics-*"))) == 1
        assert again.end() == 0
        assert not list(tmp_path.glob("lob-metrics-*"))
    finally:
        del os.environ["TMPDIR"]
