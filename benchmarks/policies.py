"""Cost of a decision (choose and record) against River, MABWiser and plain NumPy, in one run.

Run with ``python benchmarks/policies.py``.
"""

import time
from collections.abc import Callable

import numpy as np
from mabwiser.mab import MAB, LearningPolicy
from river import bandit
from timing import show

import lobandits as lob
from lobandits.basics.checks import FloatArray

K, M, ROUNDS, SIGMA = 15, 15, 500, 1.0


def per_decision(play: Callable[[int], int], repeats: int = 5) -> float:
    """Return microseconds per decision, the best of several games after one to warm up."""
    play(0)
    times = []
    for seed in range(1, repeats + 1):
        start = time.perf_counter()
        decisions = play(seed)
        times.append((time.perf_counter() - start) / decisions)
    return min(times) * 1e6


def problem(seed: int) -> tuple[lob.LatentOrders, FloatArray, list[float]]:
    """Return random total orders, their means, and noise made beforehand."""
    rng = np.random.default_rng(seed)
    means = np.array([rng.permutation(K) for _ in range(M)], dtype=float)
    return lob.LatentOrders.from_means(means), means, rng.normal(size=ROUNDS).tolist()


def river(seed: int) -> int:
    _, means, noise = problem(seed)
    policy = bandit.UCB(delta=1.0, seed=seed)
    arms = list(range(K))
    mean = means[0].tolist()
    for z in noise:
        arm = policy.pull(arms)
        policy.update(arm, mean[arm] + z)
    return ROUNDS


def mabwiser(seed: int) -> int:
    _, means, noise = problem(seed)
    policy = MAB(list(range(K)), LearningPolicy.UCB1(alpha=1.0), seed=seed)
    mean = means[0].tolist()
    policy.fit(decisions=list(range(K)), rewards=mean)
    for z in noise:
        arm = policy.predict()
        policy.partial_fit([arm], [mean[arm] + z])
    return ROUNDS


def plain_numpy(seed: int) -> int:
    """UCB as plain NumPy research code writes it, one user at a time."""
    _, means, noise = problem(seed)
    counts, sums = np.zeros(K), np.zeros(K)
    for t, z in enumerate(noise):
        if t < K:
            arm = t
        else:
            arm = int(np.argmax(sums / counts + SIGMA * np.sqrt(2 * np.log(t + 1) / counts)))
        counts[arm] += 1
        sums[arm] += means[0, arm] + z
    return ROUNDS


def agent(make: Callable[[lob.LatentOrders, FloatArray], lob.Policy]) -> Callable[[int], int]:
    """Return a game of one user through `Agent`."""

    def play(seed: int) -> int:
        orders, means, noise = problem(seed)
        user = lob.Agent(make(orders, means), seed=seed)
        mean = dict(zip(orders.arms, means[0].tolist(), strict=True))
        for z in noise:
            arm = user.choose()
            user.record(arm, mean[arm] + z)
        return ROUNDS

    return play


def batch(
    make: Callable[[lob.LatentOrders, FloatArray], lob.Policy], n_users: int = 1000
) -> Callable[[int], int]:
    """Return a game of many users at once."""

    def play(seed: int) -> int:
        orders, means, noise = problem(seed)
        policy = make(orders, means)
        state = policy.start(n_users)
        rng = np.random.default_rng(seed)
        for z in noise:
            arms = policy.choose(state, rng)
            policy.record(state, arms, means[0, arms] + z)
        return ROUNDS * n_users

    return play


POLICIES: dict[str, Callable[[lob.LatentOrders, FloatArray], lob.Policy]] = {
    "UCB": lambda orders, means: lob.UCB(K, SIGMA),
    "TS": lambda orders, means: lob.TS(K, SIGMA),
    "mUCB": lambda orders, means: lob.MUCB(means, SIGMA, horizon=ROUNDS),
    "mTS": lambda orders, means: lob.MTS(means, SIGMA),
    "lobUCB": lambda orders, means: lob.LobUCB(orders, SIGMA),
    "lobTS": lambda orders, means: lob.LobTS(orders, SIGMA),
}
BARS = {
    "1,000 users lobTS": "1/10 River",
    "1,000 users UCB": "1/40 River",
    "1,000 users TS": "1/40 River",
    "agent lobTS": "1 MABWiser",
    "agent UCB": "1 River",
}


def small_jobs() -> None:
    """Fifteen arms and states: every policy against the peers."""
    peers = {
        "River UCB": per_decision(river),
        "MABWiser UCB1": per_decision(mabwiser, repeats=2),
        "plain NumPy UCB": per_decision(plain_numpy),
    }
    times = dict(peers)
    for name, make in POLICIES.items():
        times[f"1,000 users {name}"] = per_decision(batch(make), repeats=3)
        times[f"agent {name}"] = per_decision(agent(make))
    rows = [
        [job, f"{time:.2f}", *(f"{peer / time:.1f}" for peer in peers.values()), BARS.get(job, "")]
        for job, time in times.items()
    ]
    columns = ["job", "us per decision", *(f"{peer} / it" for peer in peers), "must cost under"]
    show(f"Choose and record, k={K}, m={M}, {ROUNDS} rounds", columns, rows)


def large_job() -> None:
    """The largest job of the paper: lobTS projecting every round against mTS."""
    k, m, rounds, n_users, sigma = 19, 140, 4000, 100, 2.0
    rng = np.random.default_rng(0)
    means = 0.05 * np.array([rng.permutation(k) for _ in range(m)])
    orders = lob.LatentOrders.from_means(means)
    users = means[rng.integers(m, size=n_users)]

    def game(policy: lob.Policy) -> Callable[[int], int]:
        def play(seed: int) -> int:
            state = policy.start(n_users)
            noise = np.random.default_rng(seed)
            for _ in range(rounds):
                arms = policy.choose(state, noise)
                rewards = users[np.arange(n_users), arms] + sigma * noise.normal(size=n_users)
                policy.record(state, arms, rewards)
            return rounds * n_users

        return play

    lobts = per_decision(game(lob.LobTS(orders, sigma)), repeats=2)
    mts = per_decision(game(lob.MTS(means, sigma)), repeats=2)
    rows = [
        ["lobTS, project_every=1", f"{lobts:.2f}", f"{lobts / mts:.2f}", "2; paper 31"],
        ["mTS", f"{mts:.2f}", "1", ""],
    ]
    title = f"m={m}, k={k}, T={rounds}, gaps 0.05, sigma={sigma:g}"
    show(title, ["job", "us per decision", "it / mTS", "at most"], rows)


def main() -> None:
    small_jobs()
    large_job()


if __name__ == "__main__":
    main()
