"""What LobBayes costs: a decision, and learning its prior.

Run with ``python benchmarks/lobbayes.py``; ``--quick`` does a small part. CPU time of one thread
for decisions, of all for learning, beside EM in plain NumPy on a part of the users.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from timing import machine

import lobandits as lob
from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs import Gaussian, Prior
from lobandits.learning.em import Parameters, blocks_of, expect_all
from lobandits.learning.fit_prior import fit_prior
from lobandits.policies.lobbayes import LobBayes

K, LOADINGS = 19, 4
MANY = 5000  # arms
BARS = {(K, 1): 9, (K, 10): 25, (MANY, 1): 1000}  # us for one decision, by arms and states


def random_prior(k: int, m: int, rng: np.random.Generator) -> Prior:
    """Return a prior of states that differ as much as their users do; a shift, three loadings."""
    means, loadings = rng.standard_normal((m, k)), 0.3 * rng.standard_normal((k, LOADINGS))
    loadings[:, 0] = 0.5
    names = tuple(f"arm {a}" for a in range(k))
    own, scales = np.full(k, 0.1), np.full(m, 0.3)
    return Prior(names, np.full(m, 1 / m), means, loadings, own, scales, Gaussian(1.0))


def cost(policy: lob.Policy, prior: Prior, n_users: int, rounds: int) -> float:
    """Return the microseconds of one decision in a game."""
    rng = np.random.default_rng(0)
    policy.choose(policy.start(2), 0)  # compiles
    means, users = prior.draw(n_users, rng)[1], np.arange(n_users)
    state, spent = policy.start(n_users), 0.0
    for _ in range(rounds):
        began = time.process_time()
        arms = policy.choose(state, rng)
        spent += time.process_time() - began
        policy.record(state, arms, means[users, arms] + rng.standard_normal(n_users))
    return spent / (rounds * n_users) * 1e6


def decisions(n_users: int, rounds: int) -> None:
    """Print the cost of decisions beside LobIDS, which knows the orders alone."""
    print("\n| k | m | bar, us | lobbayes, us | lobids, us |")
    print("|---|---|---|---|---|")
    for (k, m), bar in BARS.items():
        prior = random_prior(k, m, np.random.default_rng(m))
        played = rounds if k == K else max(2, rounds // 25)
        mine, blind = cost(LobBayes(prior), prior, n_users, played), ""
        if k == K:  # orders are quadratic in arms
            alone = lob.LobIDS(prior.orders, 1.0)
            blind = f"{cost(alone, prior, n_users, max(2, rounds // 5)):.1f}"
        print(f"| {k} | {m} | {bar} | {mine:.1f} | {blind} |", flush=True)


def plain_step(counts: IntArray, sums: FloatArray, p: Parameters) -> None:
    """One expectation in NumPy, a user and a state at a time: what a reader of a book writes."""
    m = len(p.means)
    d = p.means - p.means.mean(axis=1, keepdims=True)
    shared = p.loadings @ p.loadings.T + np.diag(p.own)
    covariance = shared + (p.scales**2)[:, None, None] * d[:, :, None] * d[:, None]
    outer, first = np.zeros((m, K, K)), np.zeros((m, K))
    for n, total in zip(counts, sums, strict=True):
        seen = n > 0
        y, logs, moments = total[seen] / n[seen], np.empty(m), []
        for s in range(m):
            see = covariance[s][np.ix_(seen, seen)] + np.diag(1.0 / n[seen])
            miss = y - p.means[s, seen]
            gain = np.linalg.solve(see, covariance[s][seen]).T
            logs[s] = -0.5 * (miss @ np.linalg.solve(see, miss) + np.linalg.slogdet(see)[1])
            moments.append((gain @ miss, covariance[s] - gain @ covariance[s][seen]))
        share = np.exp(logs - logs.max()) * p.shares
        for s, (mean, cov) in enumerate(moments):
            outer[s] += share[s] / share.sum() * (np.outer(mean, mean) + cov)
            first[s] += share[s] / share.sum() * mean


def timed(call: Callable[[], object], n_users: int) -> tuple[float, float]:
    """Return the seconds for a user by the clock, and of all processors."""
    began, worked = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - began) / n_users, (time.process_time() - worked) / n_users


def learning(n_users: int, m: int, rewards: int) -> None:
    """Print the seconds and the memory of learning, and the ratio to plain NumPy."""
    rng = np.random.default_rng(1)
    prior = random_prior(K, m, rng)
    means = prior.draw(n_users, rng)[1]
    counts = rng.multinomial(rewards, np.full(K, 1 / K), size=n_users)
    sums = counts * means + np.sqrt(counts) * rng.standard_normal(means.shape)
    within = rng.chisquare(np.maximum(counts - 1, 1e-9)) * (counts > 1)
    squares = sums**2 / np.maximum(counts, 1) + within
    table = lob.RewardTable(np.arange(n_users), prior.arms, counts, sums, squares)
    small = lob.RewardTable(np.arange(50), prior.arms, counts[:50], sums[:50], squares[:50])
    fit_prior(small, n_states=2)  # compiles
    began, worked = time.perf_counter(), time.process_time()
    fit_prior(table)
    seconds, busy = time.perf_counter() - began, time.process_time() - worked
    parts = prior.shares, prior.means, prior.loadings, prior.own, prior.scales, prior.likelihood
    p = Parameters(*parts)
    some = min(n_users, 20_000)
    blocks = blocks_of(counts[:some], sums[:some])
    expect_all(blocks[:1], p)
    mine, work = timed(lambda: expect_all(blocks, p), some)
    plain, plain_work = timed(lambda: plain_step(counts[:50], sums[:50], p), 50)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\nlearning {n_users:,} users, {m} states, their number too: {seconds:.1f} s, "
        f"{busy:.1f} s of processors (bar 15), {memory:.2f} GB (bar 1)"
    )
    print(
        f"a step of EM: {1e6 * mine:.1f} us a user, {plain / mine:.0f} times plain NumPy (bar 20); "
        f"of processors {1e6 * work:.1f} us, {plain_work / work:.0f} times"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part")
    parser.add_argument("--only", default="", choices=("", "decisions", "learning"))
    options = parser.parse_args()
    print(machine())
    if options.only != "learning":
        decisions(100 if options.quick else 1000, 50 if options.quick else 200)
    if options.only != "decisions":
        learning(5000 if options.quick else 100_000, 10, 60)


if __name__ == "__main__":
    main()
