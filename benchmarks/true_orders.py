"""Regret where the orders are true and users have scales and shifts of their own.

LobIDS is told the true orders; LobBayes learns from 60 random rewards of each of 600 past users,
and trusts the orders that it finds. Run with ``python benchmarks/true_orders.py`` (``--quick`` for
one seed, ``--only sigma=5`` for the settings whose name has that text). Regret is in units of the
user's scale.
"""

import argparse
from collections.abc import Callable, Mapping

import numpy as np
from held_out import SEEDS, Task, past_logs, play
from timing import machine

import lobandits as lob
from lobandits.basics.checks import FloatArray, IntArray
from lobandits.learning.fit_prior import fit_prior
from lobandits.policies.lobbayes import LobBayes

K = M = 15
PAST, PLAYERS, TRUST = 600, 100, 0.999
ROUNDS = np.array((25, 100, 200))
GAPS: Mapping[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "linear": lambda rng, n: np.ones((n, K - 1)),
    "uniform gaps": lambda rng, n: rng.uniform(0.0, 2.0, (n, K - 1)),
    "exponential gaps": lambda rng, n: rng.exponential(1.0, (n, K - 1)),
}
"""Of each user, between neighbours in the order; 1 on average."""


def users(
    n: int, rankings: IntArray, gaps: str, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draw users: their means, with the worst arm at their shift, and their scales."""
    states = rng.integers(len(rankings), size=n)
    heights = np.cumsum(GAPS[gaps](rng, n)[:, ::-1], axis=1)[:, ::-1]
    ranked = np.concatenate([heights, np.zeros((n, 1))], axis=1)
    scale = np.exp(rng.uniform(np.log(0.5), np.log(2.0), n))
    means = np.empty((n, K))
    np.put_along_axis(means, rankings[states], ranked, axis=1)
    return scale[:, None] * means + rng.uniform(-5.0, 5.0, (n, 1)), scale


def measure(gaps: str, sigma: float, seed: int) -> dict[str, FloatArray]:
    """Return the mean cumulative regret of both policies, in units of the users' scales."""
    rng = np.random.default_rng([seed, 5])
    rankings = np.array([rng.permutation(K) for _ in range(M)])
    orders = lob.LatentOrders.from_rankings(rankings.tolist())
    learners, _ = users(PAST, rankings, gaps, rng)
    players, scale = users(PLAYERS, rankings, gaps, rng)
    task = Task(learners, players, sigma, False, orders)
    table = past_logs(task, np.random.default_rng([seed, 3]))
    prior = fit_prior(table, n_states=M, seed=seed).prior
    policies: dict[str, lob.Policy] = {
        "lobids": lob.LobIDS(orders, sigma),
        "lobbayes": LobBayes(prior, trust=TRUST),
    }
    return {
        name: (play(policy, task, ROUNDS[-1], seed) / scale[:, None]).mean(axis=0).cumsum()
        for name, policy in policies.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="so many seeds of the five")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    options = parser.parse_args()
    seeds = SEEDS[: 1 if options.quick else options.seeds]
    print(machine())
    print("\nLobBayes / LobIDS with the true orders\n")
    print("| setting | " + " | ".join(f"T={t}" for t in ROUNDS) + " |")
    print("|" + "---|" * (len(ROUNDS) + 1))
    for name in GAPS:
        for sigma in (1.0, 5.0):
            setting = f"{name}, sigma={sigma:g}"
            if options.only in setting:
                found = [measure(name, sigma, seed) for seed in seeds]
                mine, other = (
                    np.mean([f[p] for f in found], axis=0)[ROUNDS - 1]
                    for p in ("lobbayes", "lobids")
                )
                cells = (f"{a:.1f} / {b:.1f}" for a, b in zip(mine, other, strict=True))
                print(f"| {setting} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
