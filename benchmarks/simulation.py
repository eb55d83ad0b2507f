"""How the cost of a simulation grows: with users, rounds and states; and its memory.

Run with ``python benchmarks/simulation.py``; ``--quick`` does a small part.
"""

import argparse
import resource
import subprocess
import sys
import time

from timing import show

from lobandits.simulation import Synthetic, simulate

SIX = ("ucb", "ts", "mucb", "mts", "lobucb", "lobts")
LATENT = ("mucb", "mts", "lobucb", "lobts")
MEMORY_LIMIT = 1.5


def seconds(env: Synthetic, policy: str, horizon: int, n_users: int) -> float:
    """Return the wall time of a run, after compiling."""
    simulate(env, [policy], 2, 8, progress=False)
    began = time.perf_counter()
    simulate(env, [policy], horizon, n_users, progress=False, keep="mean")
    return time.perf_counter() - began


def users(largest: int) -> None:
    """Cost per decision, k = m = 15, T = 100: constant if cost is linear in users."""
    sizes = [n for n in (100, 1_000, 10_000, 100_000) if n <= largest]
    rows = [
        (policy, *(f"{1e9 * seconds(Synthetic(), policy, 100, n) / (100 * n):.0f}" for n in sizes))
        for policy in SIX
    ]
    show("ns per decision, T = 100, by users", ("job", *(f"{n:,}" for n in sizes)), rows)


def rounds(largest: int) -> None:
    """Cost per decision, k = m = 15, 1000 users: constant if cost is linear in rounds."""
    horizons = [t for t in (100, 1_000, 10_000) if t <= largest]
    rows = [
        (policy, *(f"{1e6 * seconds(Synthetic(), policy, t, 1000) / t:.0f}" for t in horizons))
        for policy in SIX
    ]
    show("ns per decision, 1000 users, by rounds", ("job", *(f"{t:,}" for t in horizons)), rows)


def states(largest: int) -> None:
    """Cost per decision over m k, k = 15: falls or stays if cost is at most m k."""
    sizes = [m for m in (10, 30, 100, 300, 1000) if m <= largest]
    rows = []
    for policy in LATENT:
        costs = [seconds(Synthetic(n_states=m), policy, 500, 96) / (500 * 96) for m in sizes]
        rows.append((policy, *(f"{1e9 * c:.0f}" for c in costs)))
        ratios = (f"{1e9 * c / (15 * m):.2f}" for c, m in zip(costs, sizes, strict=True))
        rows.append((f"{policy}, over m k", *ratios))
    show("ns per decision, k = 15, T = 500, by states", ("job", *map(str, sizes)), rows)


def memory(n_users: int) -> None:
    """Peak resident memory of a process of its own, six policies, keep="mean"."""
    command = [sys.executable, __file__, "--memory-of", str(n_users)]
    began = time.perf_counter()
    peak = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    spent = time.perf_counter() - began
    row = (f"{n_users:,} users, T = 500, k = m = 15, six policies", f"{peak:.2f}", f"{spent:.0f}")
    show("Memory, keep='mean'", ("job", f"peak GB (< {MEMORY_LIMIT})", "seconds"), [row])


def print_own_memory(n_users: int) -> None:
    """Simulate, and print this process's peak memory in GB."""
    simulate(Synthetic(), SIX, 500, n_users, keep="mean", progress=False)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part")
    parser.add_argument("--memory-of", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.memory_of:
        print_own_memory(options.memory_of)
        return
    users(1_000 if options.quick else 100_000)
    rounds(1_000 if options.quick else 10_000)
    states(100 if options.quick else 1000)
    memory(2_000 if options.quick else 100_000)


if __name__ == "__main__":
    main()
