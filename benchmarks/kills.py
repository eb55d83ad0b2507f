"""Killed under load, again and again: nothing may be lost or counted twice.

A server is killed (SIGKILL) while clients decide and report rewards in two problems, one of them
with a control group and a floor of exploration, and import past rewards. After every kill each row
of the store is compared with what the clients know, and all sums with the rows. At the end all is
sent once more. Run with ``python benchmarks/kills.py --kills 100 [--store URL]``.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from sqlalchemy import select

import lobandits as lob
from lobandits.service import Control, DecisionService
from lobandits.service.http import create_app
from lobandits.service.http.server import Server, listen
from lobandits.service.store import tables

ARMS = ("tea", "coffee", "water", "juice")
PROBLEMS = ("default", "news")
CLIENTS = 6
HALF_LIFE = 1.0  # seconds, so that landmarks move meanwhile
FORK = multiprocessing.get_context("fork")  # from a process without threads, with warm kernels


def policy(half_life: float | None = None) -> lob.LobTS:
    """Return what decides in both problems, in the second with a half-life."""
    rankings = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]]
    orders = lob.LatentOrders.from_rankings(rankings, arms=ARMS)
    return lob.LobTS(orders, sigma=1.0, half_life=half_life)


def service(url: str) -> DecisionService:
    """Return the service that every server has."""
    return DecisionService(None, url, control=True, explore=0.1)


@dataclass
class Ledger:
    """What clients know: decisions, and rewards and past rewards that were sent or acknowledged."""

    decided: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)
    recorded: set[str] = field(default_factory=set)
    past: list[dict[str, Any]] = field(default_factory=list)
    imported: set[str] = field(default_factory=set)


def serve(url: str, line: Connection) -> None:
    """Serve until the end comes."""
    listener = listen("127.0.0.1", 0)
    app = create_app(service(url))
    Server(app, lambda: line.send(listener.getsockname()[1])).run([listener])


def started(url: str) -> tuple[Any, int]:
    """Return a process that serves, and its port."""
    line, theirs = FORK.Pipe()
    process = FORK.Process(target=serve, args=(url, theirs))
    process.start()
    if not line.poll(60):
        raise SystemExit("the server did not start")
    return process, line.recv()


def post(connection: http.client.HTTPConnection, path: str, body: Any) -> Any:
    """Return what the server answers; anything but success ends the run."""
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    assert answer.status == 200, text
    return json.loads(text)


def play(port: int, seed: int, ledger: Ledger) -> None:
    """Decide and reward until the connection breaks; sums of eighths are exact in any order."""
    rng = random.Random(seed)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        while True:
            user, problem = f"user {rng.randrange(50)}", rng.choice(PROBLEMS)
            made = post(connection, "/v1/decisions", {"user": user, "problem": problem})
            ledger.decided[made["id"]] = problem, user, made["arm"]
            ledger.sent[made["id"]] = rng.randrange(-16, 17) / 8
            report = {"decision": made["id"], "reward": ledger.sent[made["id"]]}
            post(connection, "/v1/rewards", report)
            ledger.recorded.add(made["id"])


def bring_in(port: int, seed: int, ledger: Ledger) -> None:
    """Import past rewards until the connection breaks, some of them again."""
    rng = random.Random(seed)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        while True:
            rows = [
                {"id": f"{seed} {len(ledger.past) + i}", "user": f"user {rng.randrange(50)}",
                 "arm": rng.choice(ARMS), "reward": rng.randrange(-16, 17) / 8}
                for i in range(20)
            ]  # fmt: skip
            ledger.past += rows
            again = rng.sample(ledger.past, 5)
            post(connection, "/v1/history?problem=news", {"rewards": rows + again})
            ledger.imported |= {row["id"] for row in rows + again}


def kill_under_load(url: str, number: int, ledger: Ledger) -> None:
    """Let clients play, and kill the server meanwhile."""
    process, port = started(url)
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        jobs = [pool.submit(play, port, 1000 * number + i, ledger) for i in range(CLIENTS)]
        jobs.append(pool.submit(bring_in, port, number, ledger))
        time.sleep(random.Random(number).uniform(0.3, 1.5))
        os.kill(process.pid, signal.SIGKILL)
        for job in jobs:
            with suppress(OSError, http.client.HTTPException):
                job.result()
    process.join()


def check(url: str, ledger: Ledger) -> tuple[int, int, int]:
    """Compare the store with the ledger and with itself; return its sizes."""
    with service(url) as found:
        rows = [row for problem in PROBLEMS for row in found.log(problem=problem)]
        stored = {row.id: row for row in rows}
        for key, known in ledger.decided.items():
            row = stored[key]
            assert (row.problem, row.user, row.arm) == known, "an acknowledged decision"
        rewarded = {row.id: row.reward for row in rows if row.reward is not None}
        assert ledger.recorded <= rewarded.keys(), "an acknowledged reward was lost"
        assert rewarded.items() <= ledger.sent.items(), "nobody sent this reward"
        groups = {(row.user, row.group) for row in rows if row.problem == "default"}
        assert len(groups) == len({user for user, _ in groups}), "a user changed the group"
        with found.store.read() as connection:
            past = connection.execute(select(tables.past_rewards)).all()
            cells = connection.execute(select(tables.statistics)).all()
            made = connection.execute(select(tables.decisions)).all()
            names = {row.id: row.name for row in connection.execute(select(tables.users))}
            arms = {r.id: (r.problem_id, r.name) for r in connection.execute(select(tables.arms))}
        assert len(ledger.imported) <= len(past) <= len(ledger.past), "imported rows"
        sums: dict[tuple[str, tuple[int, str]], tuple[int, float]] = {}
        known_sums = ((names[p.user_id], arms[p.arm_id], p.reward) for p in past)
        for user, arm, reward in (*decided_sums(rows), *known_sums):
            plays, total = sums.get((user, arm), (0, 0.0))
            sums[user, arm] = plays + 1, total + reward
        kept = {(names[c.user_id], arms[c.arm_id]): (c.plays, c.total) for c in cells}
        assert kept == sums, "statistics are not those of the rewards"
        check_faded(cells, [*past, *(row for row in made if row.reward is not None)])
        compared = found.comparison()["groups"]
        mine = [row for row in rows if row.problem == "default"]
        assert sum(g["decisions"] for g in compared.values()) == len(mine), "groups' decisions"
        assert sum(g["rewards"] for g in compared.values()) == sum(
            row.reward is not None for row in mine
        ), "groups' rewards"
    return len(rows), len(rewarded), len(past)


def check_faded(cells: Sequence[Any], rewards: Sequence[Any]) -> None:
    """Compare what is recent, in the problem with a half-life, with rewards at their times."""
    kept = {(c.user_id, c.arm_id): c for c in cells if c.half_life}
    assert {c.half_life for c in kept.values()} <= {int(HALF_LIFE * 1e6)}
    sums = {cell: [0.0, 0.0, 0.0] for cell in kept}
    for row in rewards:
        if cell := kept.get((row.user_id, row.arm_id)):
            g = 2.0 ** ((row.time - 64 * cell.epoch * cell.half_life) / cell.half_life)
            mine = sums[cell.user_id, cell.arm_id]
            mine[:] = mine[0] + g, mine[1] + g * row.reward, mine[2] + g * g
    for key, (weight, weighted, squares) in sums.items():
        cell = kept[key]
        assert abs(cell.weight - weight) <= 1e-9 * weight, "weights are not those of the rewards"
        assert abs(cell.weighted - weighted) <= 1e-9 * weight, "nor weighted sums"
        assert abs(cell.squares - squares) <= 1e-9 * squares, "nor squares"


def decided_sums(rows: list[Any]) -> Iterator[tuple[str, tuple[int, str], float]]:
    """Yield user, arm and reward of rewarded decisions."""
    for row in rows:
        if row.reward is not None:
            yield row.user, (1 + PROBLEMS.index(row.problem), row.arm), row.reward


def send_again(url: str, ledger: Ledger) -> None:
    """Send everything once more: what was lost on the way counts now, all else does not."""
    process, port = started(url)
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        reports = [{"decision": key, "reward": reward} for key, reward in ledger.sent.items()]
        for first in range(0, len(reports), 1000):
            part = {"rewards": reports[first : first + 1000]}
            for result in post(connection, "/v1/rewards/batch", part)["results"]:
                known = result["decision"] in ledger.recorded
                assert result["status"] in ("already recorded", "" if known else "recorded")
        for first in range(0, len(ledger.past), 1000):
            part = {"rewards": ledger.past[first : first + 1000]}
            for result in post(connection, "/v1/history?problem=news", part)["results"]:
                known = result["id"] in ledger.imported
                assert result["status"] in ("already recorded", "" if known else "recorded")
    process.terminate()
    process.join()
    ledger.recorded = set(ledger.sent)
    ledger.imported = {row["id"] for row in ledger.past}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--store", help="by default a new SQLite file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = options.store or f"sqlite:///{folder}/lob.db"
        with DecisionService(policy(), url, control=Control(policy(), share=0.3)) as first:
            first.put_model(policy(HALF_LIFE), "news")
        ledger = Ledger()
        for number in range(options.kills):
            kill_under_load(url, number, ledger)
            sizes = check(url, ledger)
        send_again(url, ledger)
        sizes = check(url, ledger)
        assert sizes[1:] == (len(ledger.sent), len(ledger.past))
    print(f"{options.kills} kills: nothing lost or doubled of {sizes[0]:,} decisions, ", end="")
    print(f"{sizes[1]:,} rewards and {sizes[2]:,} imported rewards")


if __name__ == "__main__":
    main()
