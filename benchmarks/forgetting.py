"""Users who change: policies with a half-life against the same that never forget.

k = 10 arms, m = 10 states, users' own scales and shifts. After every 300 rounds each user lives in a
state drawn anew; T = 1,500. Half-lives are chosen on other seeds. Then the price where nobody changes,
and what a decision costs. Run with ``python benchmarks/forgetting.py``.
"""

import argparse

import numpy as np
from timing import show

import lobandits as lob

K, M, EVERY, HORIZON = 10, 10, 300, 1500
POLICIES = ["lobts", "lobids", "lobbayes"]
HALF_LIVES = (40, 80, 160)
CHOOSING = 100  # the seeds for choosing start here


def task(change_every: int | None, seed: int) -> lob.Synthetic:
    """Return users with scales and shifts of their own, who share the states' orders."""
    return lob.Synthetic(
        n_arms=K, n_states=M, scale=(0.5, 2.0), shift=(-2.0, 2.0), past_users=600, past_seed=seed,
        change_every=change_every,
    )  # fmt: skip


def regrets(names: list[str], change_every: int | None, n_users: int, seeds: range) -> np.ndarray:
    """Return the mean regret of each policy at T."""
    found = []
    for seed in seeds:
        env = task(change_every, seed)
        result = lob.simulate(env, names, HORIZON, n_users, seed=seed, keep="mean", progress=False)
        found.append([result.totals[name].mean() for name in names])
    return np.mean(found, axis=0)


def chosen(name: str, n_users: int) -> str:
    """Return the policy with the half-life that regrets least on the seeds for choosing."""
    names = [f"{name}(half_life={h})" for h in HALF_LIVES]
    lost = regrets(names, EVERY, n_users, range(CHOOSING, CHOOSING + 1))
    print(name, dict(zip(HALF_LIVES, lost.round(0).tolist(), strict=True)), flush=True)
    return names[int(lost.argmin())]


def cost(n_users: int, rounds: int = 200) -> None:
    """The CPU of a decision and its record, without a half-life and with one that hardly fades."""
    rows = []
    for name in POLICIES:
        names = [name, f"{name}(half_life=1e9)"]
        result = lob.simulate(task(None, 0), names, rounds, n_users, workers=1, progress=False)
        each = [1e6 * result.cpu_seconds[n] / (n_users * rounds) for n in names]
        rows.append([name, *(f"{one:.1f}" for one in each), f"{each[1] / each[0]:.2f}"])
    show("CPU of a decision", ["policy", "never, us", "fading, us", "ratio, at most 1.1"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200, help="users of each seed")
    parser.add_argument("--seeds", type=int, default=2, help="seeds for reporting")
    given = parser.parse_args()
    for name in POLICIES:
        best = chosen(name, given.users)
        rows = []
        for every, bar in ((EVERY, 0.7), (None, 1.15)):
            never, fading = regrets([name, best], every, given.users, range(given.seeds))
            what = "nobody changes" if every is None else f"state redrawn every {every}"
            ratio = f"{fading / never:.2f}, at most {bar}"
            rows.append([what, f"{never:.0f}", f"{fading:.0f}", ratio])
        title = f"{best}: k = {K}, m = {M}, T = {HORIZON}, {given.users} users, {given.seeds} seeds"
        show(title, ["users", "never forgets", "with a half-life", "ratio"], rows)
    cost(given.users)


if __name__ == "__main__":
    main()
