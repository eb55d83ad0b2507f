"""How long one lower bound takes, and in how many cutting-plane rounds.

Target: k = 19 arms, m = 160 total orders, under 0.3 s per problem.
"""

import time

import numpy as np

import lobandits as lob
from lobandits.theory import regret_lower_bound


def main(problems: int = 20) -> None:
    print("   k     m  orders   problems   seconds each (worst)   rounds (worst)   gap")
    for k, m, q in [(15, 15, 1.0), (15, 100, 1.0), (19, 160, 1.0), (19, 160, 0.6), (19, 2000, 1.0)]:
        seconds, rounds, gaps = measure(k, m, q, problems)
        kind = "total" if q == 1 else f"q={q}"
        print(
            f"{k:4d} {m:5d}  {kind:<7s} {problems:8d}   "
            f"{np.mean(seconds):8.3f} ({max(seconds):.3f})   "
            f"{np.mean(rounds):12.1f} ({max(rounds)})   {max(gaps):.0e}"
        )


def measure(k: int, m: int, q: float, problems: int) -> tuple[list[float], list[int], list[float]]:
    """Solve random problems whose means agree with a random state, least gap 0.01."""
    rng = np.random.default_rng(0)
    seconds, rounds, gaps = [], [], []
    for i in range(-1, problems):  # the first one compiles the kernels and is not counted
        orders = lob.LatentOrders.from_rankings([rng.permutation(k) for _ in range(m)])
        means = np.empty(k)
        values = np.sort(rng.uniform(1.0, 5.0, k)) + 0.01 * np.arange(k)
        means[list(orders[int(rng.integers(m))].ranking)] = values[::-1]
        known = orders if q == 1 else orders.reveal(q, rng)
        start = time.perf_counter()
        bound = regret_lower_bound(means, known, sigma=2.0)
        if i >= 0:
            seconds.append(time.perf_counter() - start)
            rounds.append(bound.rounds)
            gaps.append(bound.gap)
    return seconds, rounds, gaps


if __name__ == "__main__":
    main()
