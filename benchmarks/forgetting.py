"""Users who change: policies with a half-life against the same that never forget.

k = 10 arms, m = 10 states, users' own scales and shifts, T = 1,500. After every 300 rounds each
user lives in a state drawn anew, or has another scale and shift, or all means have drifted; or
nobody changes. Half-lives are chosen on other seeds. Then what a decision costs in a
simulation. Run with ``python benchmarks/forgetting.py``; ``--part`` is for one of these.
"""

import argparse
from functools import cache
from typing import Any

import numpy as np
from timing import show

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior

K, M, EVERY, HORIZON = 10, 10, 300, 1500
POLICIES = ["lobts", "lobids", "lobbayes"]
HALF_LIVES = (20, 40, 80)
CHOOSING = 100  # the seeds for choosing start here
CHANGES = {"state": 0.7, None: 1.15, "scale": None, "drift": None}  # what changes, and the bar


def task(change: str | None, seed: int) -> lob.Synthetic:
    """Return users with scales and shifts of their own, who share the states' orders."""
    return lob.Synthetic(
        n_arms=K, n_states=M, scale=(0.5, 2.0), shift=(-2.0, 2.0), past_users=600, past_seed=seed,
        change_every=None if change is None else EVERY, change=change or "state",
    )  # fmt: skip


@cache
def prior(seed: int) -> lob.Prior:
    """Return what 600 past users teach, who did not change; the number of states is given."""
    past = task(None, seed).past
    assert past is not None
    return fit_prior(past.table, n_states=M, seed=seed).prior


def policies(name: str, options: dict[str, dict[str, Any]], seed: int) -> dict[str, Any]:
    """Return a policy with each set of options, by label."""
    known: dict[str, Any] = {"prior": prior(seed)} if name == "lobbayes" else {}

    def make(given: dict[str, Any]) -> Any:
        return lambda problems: lob.make_policy(name, problems, **given, **known)

    return {label: make(given) for label, given in options.items()}


def regrets(
    name: str, options: dict[str, dict[str, Any]], change: str | None, n: int, seeds: range
) -> np.ndarray:
    """Return the mean regret at T with each set of options."""
    found = []
    for seed in seeds:
        specs = policies(name, options, seed)
        result = lob.simulate(
            task(change, seed), specs, HORIZON, n, seed=seed, keep="mean", progress=False, workers=1
        )
        found.append([result.totals[label].mean() for label in specs])
    return np.asarray(np.mean(found, axis=0))


def chosen(name: str, n_users: int) -> float:
    """Return the half-life that regrets least on the seed for choosing, where states change."""
    options = {str(h): {"half_life": h} for h in HALF_LIVES}
    lost = regrets(name, options, "state", n_users, range(CHOOSING, CHOOSING + 1))
    print(name, dict(zip(HALF_LIVES, lost.round(0).tolist(), strict=True)), flush=True)
    return HALF_LIVES[int(lost.argmin())]


def cost(names: list[str], n_users: int, rounds: int = 200) -> None:
    """The CPU of a decision and its record, without a half-life and with one that hardly fades.

    Of five runs, the least, after one to warm up.
    """
    rows = []
    for name in names:
        specs = policies(name, {"never": {}, "fading": {"half_life": 1e9}}, 0)
        found = []
        for _ in range(6):
            result = lob.simulate(task(None, 0), specs, rounds, n_users, workers=1, progress=False)
            found.append([result.cpu_seconds[label] / (n_users * rounds) for label in specs])
        each = np.min(found[1:], axis=0)
        rows.append([name, *(f"{1e6 * one:.2f}" for one in each), f"{each[1] / each[0]:.2f}"])
    show("CPU of a decision", ["policy", "never, us", "fading, us", "ratio"], rows)


def gains(names: list[str], n_users: int, seeds: int) -> None:
    """What forgetting gains where users change, and its price where nobody does."""
    for name in names:
        best = chosen(name, n_users)
        options: dict[str, dict[str, Any]] = {
            "never": {},
            "on_change": {"half_life": best},
            "always": {"half_life": best, "forget": "always"},
        }
        rows = []
        for change, bar in CHANGES.items():
            never, on_change, always = regrets(name, options, change, n_users, range(seeds))
            ratio = f"{on_change / never:.2f}" + (f", at most {bar}" if bar else "")
            what = "nobody changes" if change is None else f"{change} changes"
            numbers = [f"{number:.0f}" for number in (never, on_change, always)]
            rows.append([what, *numbers, ratio])
        where = f"k = {K}, m = {M}, T = {HORIZON}, {n_users} users, {seeds} seeds"
        heads = ["users", "never forgets", "forgets on a change", "forgets always", "ratio"]
        show(f"{name}, half-life {best}: {where}", heads, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200, help="users of each seed")
    parser.add_argument("--seeds", type=int, default=2, help="seeds for reporting")
    parser.add_argument("--policies", default=",".join(POLICIES), help="names, with commas")
    parser.add_argument("--part", choices=["regret", "cost"], help="by default both")
    given = parser.parse_args()
    names = given.policies.split(",")
    if given.part in (None, "regret"):
        gains(names, given.users, given.seeds)
    if given.part in (None, "cost"):
        cost(names, given.users)


if __name__ == "__main__":
    main()
