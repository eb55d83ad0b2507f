"""What LobBayes costs: a decision, learning, and the first minute; processor time and memory.

Run with ``python benchmarks/costs.py`` (``--only learn``: jobs whose name has that text, ``--users
1000000``: of the largest logs, which Dask teaches; it is left out by default). Each job of learning
has a process of its own, one thread, and kernels that are compiled already.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import clicks
import games
import numpy as np
from timing import machine

import lobandits as lob
from lobandits.beliefs import Gaussian, Prior
from lobandits.learning.fit_prior import fit_prior

K, MANY, LOADINGS = 19, 5000, 4
DECISIONS = {(K, 1): 9, (K, 10): 25, (MANY, 1): 1000}  # us for one decision, by arms and states
LEARNING = {"learn clicks": (5, 16), "learn users": (15, 1), "learn films": (60, 2)}  # s, GB


def random_prior(k: int, m: int) -> Prior:
    """Return a prior of states that differ as much as their users do; a shift, three loadings."""
    rng = np.random.default_rng(m)
    means, loadings = rng.standard_normal((m, k)), 0.3 * rng.standard_normal((k, LOADINGS))
    loadings[:, 0] = 0.5
    names = tuple(f"arm {a}" for a in range(k))
    own, scales = np.full(k, 0.1), np.full(m, 0.3 * (m > 1))
    return Prior(names, np.full(m, 1 / m), means, loadings, own, scales, Gaussian(1.0))


def decisions() -> None:
    """Print the cost of a decision in batches of 1,000 users."""
    for (k, m), bar in DECISIONS.items():
        prior = random_prior(k, m)
        n, rounds = (1000, 100) if k == K else (200, 5)
        means = prior.draw(n, 0)[1]
        game = games.Game(means[:0], means, 0, seed=0)
        spent = min(games.play(lob.LobBayes(prior), game, rounds).microseconds for _ in range(3))
        print(f"| decision, {k:,} arms, {m} states | {bar} us | {spent:.1f} us |", flush=True)


def table_of(job: str) -> lob.RewardTable:
    """Return the logs of a job of learning."""
    rng = np.random.default_rng(1)
    if job == "learn clicks":
        return games.table(clicks.world("bernoulli", 0.066, 40, 0))
    if job == "learn users":
        n, k, each = 100_000, K, 60
        means = random_prior(k, 10).draw(n, rng)[1]
        counts = rng.multinomial(each, np.full(k, 1 / k), size=n)
    else:  # a million ratings of popular and of rare films
        n, k = 6000, 3000
        means = random_prior(k, 1).draw(n, rng)[1]
        chance = 1.0 / np.arange(1, k + 1) ** 0.7
        counts = (rng.random((n, k)) < np.minimum(1.0, 167 * chance / chance.sum())).astype(int)
    sums = np.where(
        counts > 0, counts * means + np.sqrt(counts) * rng.standard_normal(means.shape), 0
    )
    within = np.where(counts > 1, rng.chisquare(np.maximum(counts - 1, 1e-9)), 0.0)
    squares = sums**2 / np.maximum(counts, 1) + within
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), counts, sums, squares)


def learning(job: str) -> None:
    """Learn, and print the cost; to be called in a process of its own."""
    small = lob.make_ratings(60, 5, 2, seed=1).table
    for likelihood in ("gaussian", None):  # compiles
        logs = lob.reward_table(small, "userId", "genre", "rating")
        ones = (logs.sums > 3 * logs.counts).astype(float) * logs.counts
        clicked = lob.RewardTable(logs.users, logs.arms, logs.counts, ones, ones)
        fit_prior(logs if likelihood else clicked, likelihood, workers=1)
    table = table_of(job)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    began = time.process_time()
    prior = fit_prior(table, workers=1).prior
    seconds, memory = (
        time.process_time() - began,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )
    bar = LEARNING[job]
    size = f"{table.n_users:,} users, {table.n_arms:,} arms, {prior.n_states} states"
    peak = f"{memory / 2**20:.2f} GB, of which {before:.2f} before"
    print(f"| {job}, {size} | {bar[0]} s, {bar[1]} GB | {seconds:.1f} s, {peak} |", flush=True)


def largest(n_users: int, cells: int = 20) -> None:
    """Learn from many users through Dask, and print seconds of the clock and memory."""
    from distributed import Client, LocalCluster

    rng = np.random.default_rng(2)
    sums, counts = np.empty((n_users, cells)), np.ones((n_users, cells), np.int64)
    for first in range(0, n_users, 2**18):
        some = slice(first, min(first + 2**18, n_users))
        means = random_prior(cells, 3).draw(some.stop - first, rng)[1]
        sums[some] = means + rng.standard_normal(means.shape)
    names = tuple(map(str, range(cells)))
    table = lob.RewardTable(np.arange(n_users), names, counts, sums, sums**2)
    options: dict[str, Any] = {"dashboard_address": None, "n_workers": 2, "threads_per_worker": 1}
    began = time.perf_counter()
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        learned = fit_prior(table, Gaussian(1.0), executor=client.get_executor())
    seconds = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| Dask, {n_users:,} users x {cells} | | {seconds:.0f} s of the clock, {memory:.1f} GB, "
          f"{learned.prior.n_states} states, {len(learned.labels):,} labels |")  # fmt: skip


def first_minute() -> None:
    """Learn a small file and decide once, with an empty cache; print seconds of processors."""
    code = (
        "import lobandits as lob; m = lob.Model.load('{0}/m.json'); "
        "p = lob.LobBayes(m); p.choose(p.start(), 0)"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = lob.make_ratings(200, 6, 2, seed=1).write(Path(folder) / "logs.parquet")
        columns = ["--user", "userId", "--arm", "genre", "--reward", "rating"]
        jobs = (
            ["-m", "lobandits", "learn", str(path), *columns, "--out", f"{folder}/m.json"],
            ["-c", code.format(folder)],
        )
        before = os.times()
        for job in jobs:
            environment = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
            subprocess.run([sys.executable, *job], check=True, env=environment, capture_output=True)
        after = os.times()
    spent = after.children_user + after.children_system - before.children_user
    spent -= before.children_system
    print(f"| first minute: lob learn, and a decision | 20 s | {spent:.1f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only jobs whose name has this text")
    parser.add_argument("--users", type=int, default=0, help="of the largest logs")
    parser.add_argument(
        "--job", choices=list(LEARNING), help="one job of learning, in this process"
    )
    options = parser.parse_args()
    if options.job:
        learning(options.job)
        return
    print(f"{machine()}\n\n| job | bar | measured |\n|---|---|---|", flush=True)
    if options.only in "decision":
        decisions()
    for job in LEARNING:
        if options.only in job:
            subprocess.run([sys.executable, __file__, "--job", job], check=True)
    if options.only in "first minute":
        first_minute()
    if options.users:
        largest(options.users)


if __name__ == "__main__":
    main()
