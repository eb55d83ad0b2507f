"""Clustering by Kendall's tau: an iteration against a loop of scipy's kendalltau, and memory.

Run with ``python benchmarks/clustering.py``; ``--quick`` takes 50,000 users for the memory.
"""

import argparse
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.stats import kendalltau
from timing import seconds, show

from lobandits.basics.checks import FloatArray
from lobandits.paper.clustering import KendallKMeans
from lobandits.paper.clustering.impute import impute
from lobandits.paper.clustering.kendall import pair_signs
from lobandits.paper.clustering.kmeans import assign, averages

N_ARMS, N_STATES = 19, 140
PAPER_USERS = 26_826
PART = 20  # users that scipy's loop is measured on
ITERATIONS = 10


def generated(n_users: int, missing: float) -> FloatArray:
    """Return means around random orders, on personal scales."""
    rng = np.random.default_rng(0)
    places = np.stack([rng.permutation(N_ARMS) for _ in range(N_STATES)]).astype(np.float64)
    means = places[rng.integers(N_STATES, size=n_users)]
    means += rng.normal(0, 4, means.shape)
    means *= rng.uniform(0.05, 0.2, (n_users, 1))
    means[rng.random(means.shape) < missing] = np.nan
    return means


def iteration_row() -> list[object]:
    """One iteration, centres and nearest orders, against scipy's distances alone on a part."""
    means = generated(PAPER_USERS, missing=0.0)
    users, values = pair_signs(means), impute(means)[0]
    start = assign(users, means[:N_STATES], 0)
    ours = seconds(lambda: assign(users, averages(values, start.labels, N_STATES), 1))
    loop = seconds(
        lambda: [[kendalltau(x, c).statistic for c in start.centers] for x in means[:PART]], 1
    )
    theirs = loop * PAPER_USERS / PART
    job = f"one iteration, {PAPER_USERS:,} users, {N_ARMS} arms, m={N_STATES}: ours / scipy's loop"
    return [job, f"{ours:.3f} s / {theirs:.0f} s", f"{theirs / ours:,.0f}", ">= 200"]


def memory_row(n_users: int) -> list[object]:
    """Peak memory of a process that makes the means and clusters them."""
    command = [sys.executable, __file__, "--child", str(n_users)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    spent, kilobytes = map(float, done.stdout.split())
    job = f"{n_users:,} users, {N_ARMS} arms, m={N_STATES}, {ITERATIONS} iterations: peak GB"
    return [job, f"{spent:.0f} s", f"{kilobytes / 2**20:.2f}", "< 8"]


def child(n_users: int) -> None:
    means = generated(n_users, missing=0.1)
    start = time.perf_counter()
    KendallKMeans(N_STATES, n_init=1, max_iter=ITERATIONS).fit(means)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="50,000 users for the memory")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return
    rows = [iteration_row(), memory_row(50_000 if options.quick else 1_000_000)]
    show("Clustering by Kendall's tau", ["job", "time", "measured", "bar"], rows)


if __name__ == "__main__":
    main()
