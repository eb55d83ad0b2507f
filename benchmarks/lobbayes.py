"""What LobBayes costs: a decision, and learning its prior.

Run with ``python benchmarks/lobbayes.py``; ``--quick`` does a small part. CPU time of one thread
for decisions, wall time on all cores for learning, beside EM in plain NumPy on a part of the users.
"""

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
from timing import machine

import lobandits as lob
from lobandits._checks import FloatArray, IntArray
from lobandits.learning.mixture import Parameters, expect
from lobandits.learning.prior import learn_prior
from lobandits.policies.lobbayes import LobBayes
from lobandits.priors import Prior

K = 19
BARS = {20: 25, 60: 40}  # us for one decision, by the number of states


def random_prior(m: int, rng: np.random.Generator) -> Prior:
    """Return a prior of states that differ as much as their users do."""
    spread = 0.1 * np.eye(K) + 0.02
    means = rng.standard_normal((m, K))
    names = tuple(f"arm {a}" for a in range(K))
    return Prior(names, np.full(m, 1 / m), means, spread, 0.5, np.full(m, 0.3), 1.0)


def users_of(prior: Prior, n: int, rng: np.random.Generator) -> FloatArray:
    """Draw users' means from a prior."""
    states = rng.choice(prior.n_states, size=n, p=prior.shares)
    base = prior.means[states]
    own = rng.multivariate_normal(np.zeros(K), prior.spread, n)
    scale = 1 + prior.scales[states, None] * rng.standard_normal((n, 1))
    level = base.mean(axis=1, keepdims=True)
    shift = prior.shift * rng.standard_normal((n, 1))
    means: FloatArray = level + scale * (base - level) + shift + own
    return means


def cost(policy: lob.Policy, prior: Prior, n_users: int, rounds: int) -> float:
    """Return the microseconds of one decision in a game."""
    rng = np.random.default_rng(0)
    policy.choose(policy.start(2), 0)  # compiles
    means, users = users_of(prior, n_users, rng), np.arange(n_users)
    state, spent = policy.start(n_users), 0.0
    for _ in range(rounds):
        began = time.process_time()
        arms = policy.choose(state, rng)
        spent += time.process_time() - began
        policy.record(state, arms, means[users, arms] + rng.standard_normal(n_users))
    return spent / (rounds * n_users) * 1e6


def decisions(n_users: int, rounds: int) -> None:
    """Print the cost of decisions beside LobIDS, which knows the orders alone."""
    print("\n| m | bar, us | lobbayes, us | lobids, us | lobbayes on the orders alone, us |")
    print("|---|---|---|---|---|")
    for m, bar in BARS.items():
        prior = random_prior(m, np.random.default_rng(m))
        mine = cost(LobBayes(prior), prior, n_users, rounds)
        other = cost(lob.LobIDS(prior.orders, 1.0), prior, n_users, rounds)
        alone = LobBayes(Prior.from_orders(prior.orders), trust=0.999)
        blind = cost(alone, prior, n_users, rounds // 5)
        print(f"| {m} | {bar} | {mine:.1f} | {other:.1f} | {blind:.1f} |", flush=True)


def plain_step(counts: IntArray, sums: FloatArray, p: Parameters) -> None:
    """One expectation in NumPy, a user and a state at a time: what a reader of a book writes."""
    m = len(p.means)
    d = p.means - p.means.mean(axis=1, keepdims=True)
    covariance = p.spread + p.shift**2 + (p.scales**2)[:, None, None] * d[:, :, None] * d[:, None]
    outer, first = np.zeros((m, K, K)), np.zeros((m, K))
    for n, total in zip(counts, sums, strict=True):
        seen = n > 0
        y, logs, moments = total[seen] / n[seen], np.empty(m), []
        for s in range(m):
            see = covariance[s][np.ix_(seen, seen)] + np.diag(p.sigma**2 / n[seen])
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
    prior = random_prior(m, rng)
    means = users_of(prior, n_users, rng)
    counts = rng.multinomial(rewards, np.full(K, 1 / K), size=n_users)
    sums = counts * means + np.sqrt(counts) * rng.standard_normal(means.shape)
    within = rng.chisquare(np.maximum(counts - 1, 1e-9)) * (counts > 1)
    squares = sums**2 / np.maximum(counts, 1) + within
    table = lob.RewardTable(np.arange(n_users), prior.arms, counts, sums, squares)
    small = lob.RewardTable(np.arange(50), prior.arms, counts[:50], sums[:50], squares[:50])
    learn_prior(small, n_states=2)  # compiles
    began, worked = time.perf_counter(), time.process_time()
    learn_prior(table, n_states=m)
    seconds, busy = time.perf_counter() - began, time.process_time() - worked
    p = Parameters(prior.shares, prior.means, prior.spread, prior.shift, prior.scales, 1.0)
    some = min(n_users, 20_000)
    expect(counts[:50], sums[:50], p)
    mine, work = timed(lambda: expect(counts[:some], sums[:some], p), some)
    plain, plain_work = timed(lambda: plain_step(counts[:50], sums[:50], p), 50)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"\nlearning {n_users:,} users, {m} states: {seconds:.1f} s (bar 60), {busy:.1f} s of "
        f"processors, {memory:.2f} GB (bar 2)"
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
        learning(5000 if options.quick else 100_000, 20, 60)


if __name__ == "__main__":
    main()
