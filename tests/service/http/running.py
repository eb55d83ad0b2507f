"""Real servers: ``lob serve`` in a process of its own, on a free port of this machine."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from fastapi import FastAPI

import lobandits as lob
from lobandits.service import DecisionService
from lobandits.service.http import create_app

ARMS = ("tea", "milk", "juice")
KEYS = {"LOB_API_KEY": "decide-key", "LOB_ADMIN_KEY": "admin-key"}
PATIENCE = 120.0  # seconds; kernels may have to be compiled first
LOB = (sys.executable, "-m", "lobandits.cli")


def write_orders(folder: Path, name: str = "orders.json", arms: tuple[str, ...] = ARMS) -> Path:
    """Write orders in which each arm is best in one state."""
    rankings = [[*arms[i:], *arms[:i]] for i in range(len(arms))]
    path = folder / name
    lob.LatentOrders.from_rankings(rankings, arms=arms).save(path)
    return path


def some_app() -> FastAPI:
    """Return an app that is looked at, not run."""
    with TemporaryDirectory() as folder:
        service = DecisionService(lob.UCB(2, sigma=1.0), f"sqlite:///{folder}/lob.db")
        app = create_app(service)
        service.close()
    return app


def environment(**keys: str) -> dict[str, str]:
    """Return our environment with these keys and no others."""
    return {name: value for name, value in os.environ.items() if name not in KEYS} | keys


class Running:
    """A server, what it printed, and a client for it."""

    def __init__(self, folder: Path, *options: str, **keys: str) -> None:
        self.store = f"sqlite:///{folder / 'lob.db'}"
        orders = write_orders(folder)
        self.process = subprocess.Popen(
            [
                *LOB,
                "serve",
                "--orders",
                str(orders),
                "--store",
                self.store,
                "--port",
                "0",
                *options,
            ],
            env=environment(**keys),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []
        self._fresh: Queue[str | None] = Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.url = str(self.wait_for("listening")["url"]).replace("0.0.0.0", "127.0.0.1")
        self.http = httpx.Client(base_url=self.url, timeout=PATIENCE)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            self._fresh.put(line)
        self.process.stdout.close()
        self._fresh.put(None)

    def wait_for(self, event: str, **fields: Any) -> dict[str, Any]:
        """Return the next line of the log about ``event`` with these fields."""
        try:
            while (line := self._fresh.get(timeout=PATIENCE)) is not None:
                found = json.loads(line) if line.startswith("{") else {}
                if found.get("event") == event and fields.items() <= found.items():
                    return dict(found)
        except Empty:
            pass
        raise AssertionError(f"no {event!r} in\n{''.join(self.lines)}")

    def post(self, path: str, body: Any, key: str = "") -> httpx.Response:
        """Send JSON."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return self.http.post(path, json=body, headers=headers)

    def decide(self, user: str, **fields: Any) -> dict[str, Any]:
        """Return a decision."""
        answer = self.post("/v1/decisions", {"user": user, **fields})
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal to the server, and return its exit code."""
        self.http.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def running(folder: Path, *options: str, **keys: str) -> Iterator[Running]:
    """Run a server until the end of the block."""
    server = Running(folder, *options, **keys)
    try:
        yield server
    finally:
        code = server.end()
    assert code == 0, "".join(server.lines)
