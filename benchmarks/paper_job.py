"""The paper's timing job: m = 140 states, k = 19 arms, T = 4000 rounds, 100 users, sigma = 2.

Seconds for the whole job on all cores, and how many times faster that is than plain Python on
one core, measured in the same run on a part of the job. The paper's own minutes stand beside.
Run with ``python benchmarks/paper_job.py``; ``--quick`` plays a tenth of the rounds.
"""

import argparse
import random
import time
from collections.abc import Callable

from plain import MUCB, Choose, lobts, lobucb, mts, play
from timing import show

from lobandits.orders import UserOrders
from lobandits.policies import Policy, make_policy
from lobandits.simulation import Problems, Synthetic, simulate

ENV = Synthetic(n_arms=19, n_states=140, sigma=2.0, gamma=0.05)
N_USERS = 100
COLUMNS = ("job", "seconds", "us per decision", "plain Python: s", "times faster", "paper: min")
Make = Callable[[Problems], Policy]


def policies(horizon: int) -> dict[str, tuple[Make, int]]:
    """Return our policies, each with the minutes that the paper reports for it."""
    return {
        "lobts, project_every=1": (lambda p: make_policy("lobts", p, project_every=1), 94),
        "lobts, project_every=10": (lambda p: make_policy("lobts", p, project_every=10), 94),
        "lobucb, refresh_every=1": (lambda p: make_policy("lobucb", p, refresh_every=1), 30),
        "mts": (lambda p: make_policy("mts", p), 3),
        "mucb": (lambda p: make_policy("mucb", p, horizon), 1),
    }


def plain_policies(horizon: int) -> dict[str, Choose]:
    """Return the plain twins, for the first user."""
    problems = ENV.sample(1, seed=0)
    assert isinstance(problems.orders, UserOrders)
    assert problems.state_means is not None
    rankings = problems.orders.tables.sequence[0].tolist()
    believed = problems.state_means[0].tolist()
    return {
        "lobts, project_every=1": lobts(rankings, ENV.sigma),
        "lobts, project_every=10": lobts(rankings, ENV.sigma, project_every=10),
        "lobucb, refresh_every=1": lobucb(rankings, ENV.sigma),
        "mts": mts(believed, ENV.sigma),
        "mucb": MUCB(believed, ENV.sigma, horizon),
    }


def our_seconds(make: Make, horizon: int) -> float:
    """Return the wall time of the whole job, after compiling."""
    simulate(ENV, {"policy": make}, 2, 8, progress=False)
    began = time.perf_counter()
    simulate(ENV, {"policy": make}, horizon, N_USERS, progress=False)
    return time.perf_counter() - began


def plain_seconds(choose: Choose, rounds: int) -> float:
    """Return the time of one user's first rounds, per round."""
    means = ENV.sample(1, seed=0).means[0].tolist()
    random.seed(0)
    began = time.perf_counter()
    play(choose, means, ENV.sigma, rounds)
    return (time.perf_counter() - began) / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds")
    quick = parser.parse_args().quick
    horizon, part = (400, 100) if quick else (4000, 500)
    decisions = N_USERS * horizon
    plain = plain_policies(horizon)
    rows = []
    for label, (make, minutes) in policies(horizon).items():
        ours = our_seconds(make, horizon)
        theirs = plain_seconds(plain[label], part) * decisions
        rows.append(
            (
                label,
                f"{ours:.2f}",
                f"{1e6 * ours / decisions:.2f}",
                f"{theirs:.0f}",
                f"{theirs / ours:.0f}",
                minutes,
            )
        )
    title = f"m = 140, k = 19, T = {horizon}, {N_USERS} users, sigma = 2"
    show(f"{title}; plain Python from {part} rounds of one user", COLUMNS, rows)


if __name__ == "__main__":
    main()
