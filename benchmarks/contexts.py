"""Contexts: one policy that knows all contexts against the same policy alone in each of them.

k = 8 arms in each of 4 contexts, 10 states with independent orders per context, users' own scales
and shifts, T = 400 in all: alone, a policy has about T / 4 rounds in each context and regrets four
times. Then what a user who was seen in one context only loses in the others.
Run with ``python benchmarks/contexts.py``.
"""

import argparse

import numpy as np
from timing import show

import lobandits as lob

K, M, CONTEXTS, HORIZON = 8, 10, 4, 400
POLICIES = ["ucb", "lobts", "lobids", "lobbayes"]


def task(n_contexts: int, seed: int) -> lob.Synthetic:
    """Return users with scales and shifts of their own, who share the states' orders."""
    return lob.Synthetic(
        n_arms=K, n_states=M, scale=(0.5, 2.0), shift=(-2.0, 2.0), n_contexts=n_contexts,
        arrivals="in turn", past_users=600, past_seed=seed,
    )  # fmt: skip


def together_and_alone(n_users: int, seeds: range) -> None:
    """Regret at T with contexts, and alone in each context for T / 4 rounds, times four."""
    rows = []
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in POLICIES}
    for seed in seeds:
        with_contexts = lob.simulate(task(CONTEXTS, seed), POLICIES, HORIZON, n_users, seed=seed)
        alone = lob.simulate(task(1, seed), POLICIES, HORIZON // CONTEXTS, n_users, seed=seed)
        for name in POLICIES:
            found[name][0].append(with_contexts.cumulative(name).mean[-1])
            found[name][1].append(CONTEXTS * alone.cumulative(name).mean[-1])
    for name, (together, apart) in found.items():
        ratio = np.mean(together) / np.mean(apart)
        rows.append([name, f"{np.mean(together):.1f}", f"{np.mean(apart):.1f}", f"{ratio:.2f}"])
    title = f"k = {K}, {CONTEXTS} contexts, m = {M}, T = {HORIZON}, {n_users} users, {seeds}"
    show(title, ["policy", "with contexts", "alone in each", "ratio, at most 0.5"], rows)


def seen_elsewhere(n_users: int, rounds: int = 30) -> None:
    """The share of best arms, of the first choice in a context after rounds in another only."""
    problems = task(CONTEXTS, 0).sample(n_users, seed=1)
    sets, rng = problems.choice_sets, np.random.default_rng(0)
    rows = []
    for name in ["lobts", "lobids", "lobbayes"]:
        policy = lob.make_policy(name, problems)
        state = policy.start(n_users)
        for _ in range(rounds):
            arms = policy.choose(state, rng, sets[0])
            rewards = problems.means[np.arange(n_users), arms] + rng.normal(size=n_users)
            policy.record(state, arms, rewards)
        arms = policy.choose(state, rng, sets[1])
        best = (problems.gaps[np.arange(n_users), arms] == 0).mean()
        rows.append([name, f"{best:.2f}", f"{1 / K:.2f}"])
    title = f"{rounds} rounds in one context, then the first choice in another, {n_users} users"
    show(title, ["policy", "share of best arms", "by chance"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200, help="users of each seed")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of orders, users and noise")
    given = parser.parse_args()
    together_and_alone(given.users, range(given.seeds))
    seen_elsewhere(given.users)


if __name__ == "__main__":
    main()
