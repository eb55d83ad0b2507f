"""What `service.py` measures without HTTP: throughput, memory, latency and bytes of a store."""

import gc
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sqlalchemy import Connection

import lobandits as lob
from lobandits.policies import Policy
from lobandits.service import DecisionService
from lobandits.service.store import tables

K, M = 15, 15
THREADS = 64
BATCH = 1000
LARGE = 5000
USERS = 10_000
FEW = 1000
PROBES = 2000
ROUNDS = 10

Row = tuple[str, ...]


def policy() -> Policy:
    """Return the policy that all parts serve."""
    rng = np.random.default_rng(0)
    rankings = [rng.permutation(K).tolist() for _ in range(M)]
    return lob.LobTS(lob.LatentOrders.from_rankings(rankings), sigma=1.0)


def bayes() -> Policy:
    """Return LobBayes on the same orders, and nothing else."""
    orders = policy().orders  # type: ignore[attr-defined]
    return lob.LobBayes(lob.Prior.from_orders(orders, sigma=1.0))


def _name(user: int) -> str:
    return f"user-{user:010d}"


def in_process(folder: str, seconds: float) -> Iterator[Row]:
    """Yield pairs per second from many threads, and decisions per second in batches."""
    with DecisionService(policy(), f"sqlite:///{folder}/process.db") as service:
        gc.freeze()
        pairs = _pairs(service, seconds)
        decisions, processor = _batches(service, seconds)
    yield f"durable pairs, {THREADS} threads, SQLite", f"{pairs:.0f}", "at least 3000"
    yield (
        f"durable decisions, batches of {LARGE}, SQLite",
        f"{decisions:.0f}",
        "at least 50000",
    )
    yield "processor time of one of these, us", f"{1e6 * processor:.1f}", ""


def _pairs(service: DecisionService, seconds: float) -> float:
    began = time.perf_counter()
    done = [0] * THREADS

    def play(thread: int) -> None:
        rng = np.random.default_rng(thread)
        while time.perf_counter() < began + seconds:
            decision = service.decide(_name(int(rng.integers(USERS))))
            service.record(decision.id, 0.5)
            done[thread] += 1

    threads = [threading.Thread(target=play, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - began)


def _batches(service: DecisionService, seconds: float) -> tuple[float, float]:
    """Return decisions per second, and the seconds of processors that each takes."""
    rng = np.random.default_rng(0)
    batches = [[_name(u) for u in rng.permutation(USERS)[:LARGE]] for _ in range(10)]
    began, busy, done = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() < began + seconds:
        done += len(service.decide_many(batches[done // LARGE % len(batches)]))
    return done / (time.perf_counter() - began), (time.process_time() - busy) / done


def stored_users(folder: str, n_users: int) -> Iterator[Row]:
    """Yield memory over many decisions, and the time of a pair with few and many stored users.

    A commit does not wait for the disk here, so as to show what the service itself does.
    """
    with DecisionService(policy(), f"sqlite:///{folder}/users.db?synchronous=normal") as service:
        _fill(service, 0, FEW)
        _probe(service, FEW)
        few = _probe(service, FEW)
        _fill(service, FEW, n_users // 2)
        half = _memory()
        _fill(service, n_users // 2, n_users)
        whole = _memory()
        many = _probe(service, n_users)
    ratio = f"{whole / half:.2f}"
    yield f"memory after {n_users} decisions, MB", f"{half:.0f}", f"{whole:.0f}", ratio, "flat"
    for q in (0.5, 0.99):
        a, b = (1e6 * float(np.quantile(times, q)) for times in (few, many))
        job, ratio = f"p{100 * q:.0f} of a pair, us", f"{b / a:.2f}"
        yield job, f"{a:.0f}", f"{b:.0f}", ratio, "at most 1.5" if q == 0.5 else ""


def _fill(service: DecisionService, first: int, last: int) -> None:
    """Decide once for each new user, and record the reward."""
    for start in range(first, last, BATCH):
        made = service.decide_many([_name(u) for u in range(start, min(start + BATCH, last))])
        service.record_many([(decision.id, 0.5) for decision in made])


def _probe(service: DecisionService, n_users: int) -> list[float]:
    """Return the seconds of pairs for random users."""
    times = []
    for user in np.random.default_rng(n_users).integers(n_users, size=PROBES):
        began = time.perf_counter()
        decision = service.decide(_name(user))
        service.record(decision.id, 0.5)
        times.append(time.perf_counter() - began)
    return times


def _memory() -> float:
    """Return the resident memory of this process in MB."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def bytes_stored(stores: dict[str, str]) -> Iterator[Row]:
    """Yield bytes of a user, of a user and arm with rewards, and of a decision, by store."""
    sizes = [_sizes(url) for url in stores.values()]
    for name in sizes[0]:
        yield f"one of {name}", *(f"{size[name]:.0f}" for size in sizes)


def _sizes(url: str) -> dict[str, float]:
    """Return the bytes of a row of each large table, with its share of the indexes.

    PostgreSQL clears old versions of rows after each round, as its background process would.
    """
    with DecisionService(policy(), url) as service:
        engine = service.store.engine
        for _ in range(ROUNDS):
            _fill(service, 0, 20 * BATCH)
            if engine.dialect.name == "postgresql":
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as free:
                    free.exec_driver_sql("VACUUM ANALYZE")
        names = [table.name for table in (tables.users, tables.statistics, tables.decisions)]
        with service.store.read() as connection:
            return {name: _row_size(connection, name) for name in names}


def _row_size(connection: Connection, table: str) -> float:
    rows = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one()
    if connection.dialect.name == "sqlite":
        parts = f"SELECT name FROM sqlite_master WHERE tbl_name = '{table}'"
        question = f"SELECT sum(pgsize) FROM dbstat WHERE name IN ({parts})"
    else:
        question = f"SELECT pg_total_relation_size('{table}')"
    return float(connection.exec_driver_sql(question).scalar_one()) / int(rows)
