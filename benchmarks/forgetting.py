"""Users who change: policies with a half-life against the same that never forget.

k = 10 arms, m = 10 states, users' own scales and shifts, T = 1,500. After every 300 rounds each
user lives in a state drawn anew, or has another scale and shift, or all means have drifted; or
nobody changes. Half-lives are chosen on other seeds. Then what a decision costs, in a simulation,
of one agent, in a service of this process, and over HTTP. Run with
``python benchmarks/forgetting.py``; ``--part`` is for one of these.
"""

import argparse
import itertools
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache, partial
from typing import Any

import numpy as np
import psutil
from fastapi import FastAPI
from load import load_test
from sqlalchemy import create_engine
from sqlalchemy.engine import make_url
from timing import show

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior
from lobandits.service import DecisionService
from lobandits.service.http import create_app
from lobandits.service.http.json_log import start_logging
from service import CLIENTS, Running, postgresql, server

K, M, EVERY, HORIZON = 10, 10, 300, 1500
POLICIES = ["lobts", "lobids", "lobbayes"]
HALF_LIVES = (20, 40, 80)
CHOOSING = 100  # the seeds for choosing start here
CHANGES = {"state": 0.7, None: 1.15, "scale": None, "drift": None}  # what changes, and the bar


def task(change: str | None, seed: int) -> lob.Synthetic:
    """Return users with scales and shifts of their own, who share the states' orders."""
    return lob.Synthetic(
        n_arms=K, n_states=M, scale=(0.5, 2.0), shift=(-2.0, 2.0), past_users=600, past_seed=seed,
        change_every=None if change is None else EVERY, change=change or "state",
    )  # fmt: skip


@cache
def prior(seed: int) -> lob.Prior:
    """Return what 600 past users teach, who did not change; the number of states is given."""
    past = task(None, seed).past
    assert past is not None
    return fit_prior(past.table, n_states=M, seed=seed).prior


def policies(name: str, options: dict[str, dict[str, Any]], seed: int) -> dict[str, Any]:
    """Return a policy with each set of options, by label."""
    known: dict[str, Any] = {"prior": prior(seed)} if name == "lobbayes" else {}

    def make(given: dict[str, Any]) -> Any:
        return lambda problems: lob.make_policy(name, problems, **given, **known)

    return {label: make(given) for label, given in options.items()}


def regrets(
    name: str, options: dict[str, dict[str, Any]], change: str | None, n: int, seeds: range
) -> np.ndarray:
    """Return the mean regret at T with each set of options."""
    found = []
    for seed in seeds:
        specs = policies(name, options, seed)
        result = lob.simulate(
            task(change, seed), specs, HORIZON, n, seed=seed, keep="mean", progress=False, workers=1
        )
        found.append([result.totals[label].mean() for label in specs])
    return np.asarray(np.mean(found, axis=0))


def chosen(name: str, n_users: int) -> float:
    """Return the half-life that regrets least on the seed for choosing, where states change."""
    options = {str(h): {"half_life": h} for h in HALF_LIVES}
    lost = regrets(name, options, "state", n_users, range(CHOOSING, CHOOSING + 1))
    print(name, dict(zip(HALF_LIVES, lost.round(0).tolist(), strict=True)), flush=True)
    return HALF_LIVES[int(lost.argmin())]


def cost(names: list[str], n_users: int, rounds: int = 200) -> None:
    """The CPU of a decision and its record, without a half-life and with one that hardly fades.

    Of five runs, the least, after one to warm up.
    """
    rows = []
    for name in names:
        specs = policies(name, {"never": {}, "fading": {"half_life": 1e9}}, 0)
        found = []
        for _ in range(6):
            result = lob.simulate(task(None, 0), specs, rounds, n_users, workers=1, progress=False)
            found.append([result.cpu_seconds[label] / (n_users * rounds) for label in specs])
        each = np.min(found[1:], axis=0)
        rows.append([name, *(f"{1e6 * one:.2f}" for one in each), f"{each[1] / each[0]:.2f}"])
    show("CPU of a decision", ["policy", "never, us", "fading, us", "ratio, at most 1.1"], rows)


AGENTS = ["ucb", "ts", "lobts", "lobbayes"]
LATE: dict[str, dict[str, Any]] = {
    "never": {},
    "on_change": {"half_life": 1e9},
    "always": {"half_life": 1e9, "forget": "always"},
}


def agents(turns: int = 40, plays: int = 400) -> None:
    """The processor time of `Agent.choose` and `Agent.record`; of many turns, the least."""
    problems, rows = task(None, 0).sample(1, seed=0), []
    rewards = np.random.default_rng(0).normal(size=plays).tolist()
    for name in AGENTS:
        made = {key: spec(problems) for key, spec in policies(name, LATE, 0).items()}
        least = dict.fromkeys(LATE, np.inf)
        for turn in range(turns):
            for label in list(LATE)[:: 1 if turn % 2 else -1]:
                agent = lob.Agent(made[label], seed=0)
                began = time.process_time()
                for reward in rewards:
                    agent.record(agent.choose(), reward)
                least[label] = min(least[label], (time.process_time() - began) / plays)
        for label in ("on_change", "always"):
            each = (f"{1e6 * least[one]:.2f}" for one in ("never", label))
            bar = "at most 1.1" if label == "on_change" else ""
            rows.append([name, label, *each, f"{least[label] / least['never']:.2f}", bar])
    heads = ["agent", "forgets", "never, us", "fading, us", "ratio", "bar"]
    show("Processor time of a choice with its reward of one agent", heads, rows)


DAY = 86400.0
BATCH = 200
PAST = 30  # rewards of each user before
ROUNDS = 40
SERVED: dict[str, dict[str, Any]] = {
    "never": {},
    "on_change": {"half_life": 30 * DAY},
    "always": {"half_life": 30 * DAY, "forget": "always"},
}
ABOUT = {"on_change": "at most 1.1", "always": "all users read what has faded"}


class ServedUsers:
    """Users of a service, who stay as they are: 30 rewards each over 120 days, then pairs."""

    def __init__(self, name: str, options: dict[str, Any], url: str, n_users: int) -> None:
        rng = np.random.default_rng(0)
        orders = lob.LatentOrders.from_rankings([rng.permutation(K).tolist() for _ in range(M)])
        known: Any = {"prior": lob.Prior.from_orders(orders, sigma=1.0)}
        if name == "lobts":
            known = {"orders": orders, "sigma": 1.0}
        make: Any = lob.POLICIES[name]
        self.service = DecisionService(make(**known, **options), url, seed=0)
        self.names = [f"user-{u}" for u in range(n_users)]
        self.arms = {arm: place for place, arm in enumerate(orders.arms)}
        self.means = rng.normal(size=(n_users, K))
        for first in range(0, n_users, 100):
            self._remember(rng, range(first, min(first + 100, n_users)))

    def _remember(self, rng: np.random.Generator, users: range) -> None:
        rows, now = [], time.time()
        for u in users:
            for i in range(PAST):
                arm = list(self.arms)[rng.integers(K)]
                reward, when = self._reward(rng, u, arm), now - 120 * DAY * rng.random()
                rows.append({"id": f"{u} {i}", "user": self.names[u], "arm": arm,
                             "reward": reward, "time": when})  # fmt: skip
        self.service.add_history(rows)

    def _reward(self, rng: np.random.Generator, user: int, arm: str) -> float:
        return float(rng.normal(self.means[user, self.arms[arm]]))

    def singly(self, seed: int) -> float:
        """Return the processor time of a pair, each call with its own commit."""
        rng, spent = np.random.default_rng(seed), 0.0
        for u in rng.integers(len(self.names), size=BATCH // 5):
            began = time.process_time()
            made = self.service.decide(self.names[u])
            self.service.record(made.id, self._reward(rng, u, made.arm))
            spent += time.process_time() - began
        return spent / (BATCH // 5)

    def together(self, seed: int) -> float:
        """Return the processor time of a pair in a batch."""
        rng = np.random.default_rng(seed)
        users = rng.permutation(len(self.names))[:BATCH].tolist()
        names = [self.names[u] for u in users]
        began = time.process_time()
        made = self.service.decide_many(names)
        spent = time.process_time() - began
        each = zip(users, made, strict=True)
        rewards = [(one.id, self._reward(rng, u, one.arm)) for u, one in each]
        began = time.process_time()
        self.service.record_many(rewards)
        return (spent + time.process_time() - began) / BATCH


def interleaved(calls: Mapping[str, Callable[[int], float]], rounds: int) -> dict[str, Any]:
    """Return the processor times of each call, (rounds,), in turns, after one to warm up."""
    found: dict[str, list[float]] = {label: [] for label in calls}
    for i in range(rounds + 1):
        for label in list(calls)[:: 1 if i % 2 else -1]:
            found[label].append(calls[label](i))
    return {label: np.array(times[1:]) for label, times in found.items()}


def served(names: list[str], n_users: int) -> None:
    """The processor time of a durable decision and its reward in a service on SQLite."""
    rows = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            users = {
                label: ServedUsers(name, options, f"sqlite:///{folder}/{label}.db", n_users)
                for label, options in SERVED.items()
            }
            for job in ("singly", "together"):
                jobs = {label: getattr(u, job) for label, u in users.items()}
                times = interleaved(jobs, 3 * ROUNDS)
                never = times.pop("never")
                for label, mine in times.items():
                    best, middle = mine.min() / never.min(), np.median(mine / never)
                    each = (f"{1e6 * one.min():.0f}" for one in (never, mine))
                    row = f"{name}, {job}", label, *each, f"{best:.2f}", f"{middle:.2f}"
                    rows.append([*row, ABOUT[label]])
            for one in users.values():
                one.service.close()
    where = f"{n_users} users, {K} arms, batches of {BATCH}, SQLite"
    heads = ["job", "forgets", "never, us", "fading, us", "best", "median", "bar"]
    show(f"Processor time of a decision with its reward in a service, {where}", heads, rows)


def app(url: str) -> FastAPI:
    """Return the app of a store, whose logs are written as those of any server."""
    start_logging("info")
    return create_app(DecisionService(None, url))


def processor_time(pid: int) -> float:
    """Return the seconds that a process and its children have computed."""
    process = psutil.Process(pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def over_http(names: list[str], n_users: int) -> None:
    """The processor time of a server for a decision and its reward, asked by 64 connections."""
    rows = []
    with tempfile.TemporaryDirectory() as folder, postgresql() as database:
        for name, kind in itertools.product(names, ("SQLite", "PostgreSQL")):
            if kind == "PostgreSQL" and database is None:
                continue
            with ExitStack() as stack:
                up = {}
                for label, options in SERVED.items():
                    place = f"{name}_{label}"
                    url = f"sqlite:///{folder}/{place}.db"
                    if kind == "PostgreSQL":
                        url = new_database(str(database), place)
                    ServedUsers(name, options, url, n_users).service.close()
                    up[label] = stack.enter_context(server(partial(app, url), workers=1))
                loads = {label: partial(loaded, up[label], n_users) for label in up}
                times = interleaved(loads, ROUNDS)
            never = times.pop("never")
            for label, mine in times.items():
                middle = f"{np.median(mine / never):.2f}"
                each = (f"{1e6 * np.median(one):.0f}" for one in (never, mine))
                rows.append([f"{name}, {kind}", label, *each, middle, "at most 1.1"])
    heads = ["job", "forgets", "never, us", "fading, us", "ratio", "bar"]
    show(f"Processor time of a server for a pair over HTTP, {n_users} users", heads, rows)


def new_database(administrator: str, name: str) -> str:
    """Return the URL of a new database of a PostgreSQL."""
    url = make_url(administrator)
    with create_engine(url.set(drivername="postgresql+psycopg")).connect() as connection:
        free = connection.execution_options(isolation_level="AUTOCOMMIT")
        free.exec_driver_sql(f'CREATE DATABASE "{name}"')
    return url.set(database=name).render_as_string(hide_password=False)


def loaded(running: Running, n_users: int, _turn: int) -> float:
    """Return the processor time of a server for a pair."""
    before = processor_time(running.pid)
    report = load_test(running.url, clients=CLIENTS, seconds=1.0, users=n_users)
    assert not report.errors
    return (processor_time(running.pid) - before) / (report.latencies.size / 2)


def gains(names: list[str], n_users: int, seeds: int) -> None:
    """What forgetting gains where users change, and its price where nobody does."""
    for name in names:
        best = chosen(name, n_users)
        options: dict[str, dict[str, Any]] = {
            "never": {},
            "on_change": {"half_life": best},
            "always": {"half_life": best, "forget": "always"},
        }
        rows = []
        for change, bar in CHANGES.items():
            never, on_change, always = regrets(name, options, change, n_users, range(seeds))
            ratio = f"{on_change / never:.2f}" + (f", at most {bar}" if bar else "")
            what = "nobody changes" if change is None else f"{change} changes"
            numbers = [f"{number:.0f}" for number in (never, on_change, always)]
            rows.append([what, *numbers, ratio])
        where = f"k = {K}, m = {M}, T = {HORIZON}, {n_users} users, {seeds} seeds"
        heads = ["users", "never forgets", "forgets on a change", "forgets always", "ratio"]
        show(f"{name}, half-life {best}: {where}", heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200, help="users of each seed")
    parser.add_argument("--seeds", type=int, default=2, help="seeds for reporting")
    parser.add_argument("--policies", default=",".join(POLICIES), help="names, with commas")
    parser.add_argument(
        "--part", choices=["regret", "cost", "agents", "served", "http"], help="by default all"
    )
    parser.add_argument("--served", type=int, default=10_000, help="users of the service")
    given = parser.parse_args()
    names = given.policies.split(",")
    if given.part in (None, "regret"):
        gains(names, given.users, given.seeds)
    if given.part in (None, "cost"):
        cost(names, given.users)
    if given.part in (None, "agents"):
        agents()
    if given.part in (None, "served"):
        served([name for name in names if name != "lobids"], given.served)
    if given.part in (None, "http"):
        over_http([name for name in names if name != "lobids"], given.served)


if __name__ == "__main__":
    main()
