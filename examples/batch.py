"""Ten thousand users at once: the same calls as for one, on arrays with a user axis.

Each user has one of twenty orders, and a scale and a shift of their own. Rewards may also come
late, for any users and in any order; statistics of the same users can be merged.
"""

import time

import numpy as np
from numpy.typing import NDArray

import lobandits as lob

N_USERS, N_ARMS, N_STATES, ROUNDS = 10_000, 12, 20, 50


def main() -> None:
    rng = np.random.default_rng(0)
    orders = lob.LatentOrders.from_rankings([rng.permutation(N_ARMS) for _ in range(N_STATES)])
    means, everyone = user_means(orders, rng), np.arange(N_USERS)
    policy = lob.LobTS(orders, sigma=1.0)
    state = policy.start(N_USERS)
    policy.choose(state, rng)  # compiles on first use

    began = time.perf_counter()
    for t in range(1, ROUNDS + 1):
        arms = policy.choose(state, rng)
        policy.record(state, arms, rng.normal(means[everyone, arms], 1.0))
        if t in (1, 5, 10, 20, 50):
            right = np.mean(arms == means.argmax(axis=1))
            print(f"round {t:2d}: {right:3.0%} of {N_USERS:,} users get their best arm")
    print(f"{N_USERS * ROUNDS:,} decisions in {time.perf_counter() - began:.1f} s")

    late = policy.start(N_USERS)  # rewards that somebody else recorded
    policy.record(late, arms=[0, 3, 0], rewards=[4.0, 1.5, 4.5], users=[7, 42, 7])
    print("after a merge, user 7 has", state.merge(late).plays[7], "rewards")


def user_means(orders: lob.LatentOrders, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return means (n_users, n_arms) in which every user keeps the order of a random state."""
    rankings = np.array([order.ranking for order in orders])[rng.integers(N_STATES, size=N_USERS)]
    means = np.empty(rankings.shape)
    np.put_along_axis(means, rankings, np.linspace(5.0, 1.0, N_ARMS)[None], axis=1)
    return rng.uniform(0.5, 2.0, (N_USERS, 1)) * means + rng.normal(size=(N_USERS, 1))


if __name__ == "__main__":
    main()
