"""Regret on held-out real users: LobBayes and all rivals, taught by the same logs.

Half of the users of a MovieLens edition teach, with 60 rewards each on random genres; the others
play. Run with ``python benchmarks/held_out.py FOLDER`` (``--quick`` for one seed, ``--only raw``
for the settings whose name has that text, ``--plot FILE`` to draw the regret on the first of them).
"""

import argparse
import csv
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine

import lobandits as lob
from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.learning.fit_prior import fit_prior
from lobandits.paper.drawing import label_lines
from lobandits.policies.lobbayes import LobBayes
from lobandits.policies.mixts import MixTS
from lobandits.policies.popular import Popular
from lobandits.simulation.regret_plot import line_styles

SEEDS = range(10, 15)  # for reporting; details were chosen on others
REWARDS, LEARNERS, STATES = 60, 100, 20
ROUNDS = (10, 25, 50, 100, 200, 500)
DRAWN = ("popular", "ts", "mts", "mixts, one state", "lobts", "lobids", "lobbayes")
DRAWN_SETTING = "raw means, sigma 1"
FILTERS = {"min_movie_ratings": 20, "min_user_ratings": 100}


class Task(NamedTuple):
    """Users who teach and users who play, with the orders that hold, if any do."""

    learners: FloatArray
    players: FloatArray
    sigma: float
    clicks: bool
    orders: lob.LatentOrders | None


class Setting(NamedTuple):
    """What is played, by whom, and after how many rounds the regret is printed."""

    name: str
    task_of: Callable[[int], Task]
    policies_of: Callable[[lob.RewardTable, Task, int], dict[str, lob.Policy]]
    rounds: tuple[int, ...] = ROUNDS


def rewards_of(
    means: FloatArray, sigma: float, clicks: bool, rng: np.random.Generator
) -> FloatArray:
    """Draw a reward for each mean."""
    if clicks:
        return (rng.random(means.shape) < means).astype(np.float64)
    return means + sigma * rng.standard_normal(means.shape)


def past_logs(task: Task, rng: np.random.Generator) -> lob.RewardTable:
    """Return the table of what the learners' random genres brought."""
    n, k = task.learners.shape
    arms = rng.integers(k, size=(n, REWARDS))
    drawn = np.take_along_axis(task.learners, arms, 1)
    values = rewards_of(drawn, task.sigma, task.clicks, rng)
    counts, sums, squares = np.zeros((n, k), np.int64), np.zeros((n, k)), np.zeros((n, k))
    users = np.broadcast_to(np.arange(n)[:, None], arms.shape)
    np.add.at(counts, (users, arms), 1)
    np.add.at(sums, (users, arms), values)
    np.add.at(squares, (users, arms), values**2)
    names = tuple(str(a) for a in range(k))
    return lob.RewardTable(np.arange(n), names, counts, sums, squares)


def clustered(
    table: lob.RewardTable, n_states: int, seed: int
) -> tuple[lob.LatentOrders, FloatArray]:
    """Return orders and their centres as the paper finds them: k-means in Kendall's tau."""
    found = lob.KendallKMeans(n_states, random_state=seed).fit(table.means)
    return lob.LatentOrders.from_rankings(found.rankings_.tolist(), table.arms), found.centers_


def rivals(table: lob.RewardTable, task: Task, seed: int) -> dict[str, lob.Policy]:
    """Return all rivals, each with what it can take from the logs."""
    learned, centers = clustered(table, STATES, seed)
    orders = learned if task.orders is None else task.orders
    auto = fit_prior(table, seed=seed).prior
    one = fit_prior(table, n_states=1, seed=seed).prior
    sigma = 0.5 if task.clicks else task.sigma
    told: dict[str, lob.Policy] = {}
    if task.orders is not None:
        vouched = LobBayes(lob.Prior.from_orders(task.orders, sigma), trust=0.999)
        told = {
            "lobids, orders learned": lob.LobIDS(learned, sigma),
            "lobbayes, told the orders": vouched,
        }
    return {
        "popular": Popular(auto),
        "ts": lob.TS(table.n_arms, sigma),
        "mts": lob.MTS(centers, sigma),
        "mixts, one state": MixTS(one),
        "lobts": lob.LobTS(orders, sigma),
        "lobids": lob.LobIDS(orders, sigma),
        **told,
        "lobbayes": LobBayes(auto),
        "lobbayes, 8 states": LobBayes(fit_prior(table, n_states=8, seed=seed).prior),
    }


def misjudged(table: lob.RewardTable, task: Task, seed: int) -> dict[str, lob.Policy]:
    """Return LobBayes with a wrong sigma or own variances, and LobIDS with the right one."""
    prior = fit_prior(table, seed=seed).prior
    orders, _ = clustered(table, STATES, seed)
    return {
        "lobids": lob.LobIDS(orders, task.sigma),
        "lobbayes": LobBayes(prior),
        "lobbayes, sigma times 2": LobBayes(prior.with_likelihood(lob.Gaussian(2 * prior.sigma))),
        "lobbayes, sigma over 2": LobBayes(prior.with_likelihood(lob.Gaussian(prior.sigma / 2))),
        "lobbayes, own times 4": LobBayes(replace(prior, own=4 * prior.own)),
        "lobbayes, own over 4": LobBayes(replace(prior, own=prior.own / 4)),
    }


def with_ts(table: lob.RewardTable, task: Task, seed: int) -> dict[str, lob.Policy]:
    """Return LobBayes, and TS that knows nothing of the logs."""
    return {
        "ts": lob.TS(table.n_arms, task.sigma),
        "lobbayes": LobBayes(fit_prior(table, seed=seed).prior),
    }


def play(policy: lob.Policy, task: Task, horizon: int, seed: int) -> FloatArray:
    """Return the regret of each user in each round."""
    rng, draws = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    n = len(task.players)
    users, best = np.arange(n), task.players.max(axis=1)
    state, regret = policy.start(n), np.empty((n, horizon))
    for t in range(horizon):
        arms = policy.choose(state, rng)
        means = task.players[users, arms]
        policy.record(state, arms, rewards_of(means, task.sigma, task.clicks, draws))
        regret[:, t] = best - means
    return regret


def as_clicks(folder: str) -> str:
    """Write the ratings as clicks, 1 for at least 4 stars, to a temporary folder."""
    place = Path(tempfile.mkdtemp()) / "ml-latest-small"
    place.mkdir()
    shutil.copy(Path(folder) / "movies.csv", place)
    with (Path(folder) / "ratings.csv").open() as old, (place / "ratings.csv").open("w") as new:
        writer = csv.writer(new)
        for i, row in enumerate(csv.reader(old)):
            rated = row[2] if i == 0 else int(float(row[2]) >= 4)
            writer.writerow([*row[:2], rated, *row[3:]])
    return str(place)


def split(means: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    order = np.random.default_rng([seed, 77]).permutation(len(means))
    return means[order[:LEARNERS]], means[order[LEARNERS:]]


def settings(folder: str) -> Iterator[Setting]:
    """Yield the settings; each makes a task for each seed of split, genre draw and start."""
    ratings, clicks = lob.load_movielens(folder), lob.load_movielens(as_clicks(folder))

    def env(seed: int, source: object = ratings) -> lob.MovieLens:
        return lob.MovieLens(source, n_states=STATES, seed=seed, progress=False, **FILTERS)  # type: ignore[arg-type]

    def raw(seed: int, sigma: float = 1.0) -> Task:
        return Task(*split(env(seed).means0, seed), sigma, False, None)

    def setting_a(seed: int) -> Task:
        return Task(*split(env(seed).projected, seed), 1.0, False, env(seed).orders)

    def clicked(seed: int) -> Task:
        return Task(*split(env(seed, clicks).means0.clip(0, 1), seed), 0.5, True, None)

    def permuted(seed: int) -> Task:
        task = raw(seed)
        arms = np.random.default_rng([seed, 78]).permutation(task.players.shape[1])
        return task._replace(players=task.players[:, arms])

    yield Setting(DRAWN_SETTING, raw, rivals)
    yield Setting("raw means, sigma 2", lambda seed: raw(seed, 2.0), rivals)
    yield Setting("Setting A, sigma 1", setting_a, rivals)
    yield Setting("clicks", clicked, rivals)
    yield Setting("misjudged, sigma 1", raw, misjudged)
    yield Setting("misjudged, sigma 2", lambda seed: raw(seed, 2.0), misjudged)
    yield Setting("arms permuted", permuted, with_ts, (*ROUNDS, 1000))
    yield Setting("long, sigma 1", raw, with_ts, (*ROUNDS, 1000, 5000))


def measure(setting: Setting, seeds: range, who: list[str]) -> dict[str, FloatArray]:
    """Return the regret of all users in all rounds, (n, horizon), by policy."""
    found: dict[str, list[FloatArray]] = {}
    for seed in seeds:
        task = setting.task_of(seed)
        table = past_logs(task, np.random.default_rng([seed, 3]))
        for name, policy in setting.policies_of(table, task, seed).items():
            if any(text in name for text in who):
                found.setdefault(name, []).append(play(policy, task, setting.rounds[-1], seed))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def wrong_at_end(regret: FloatArray, sigma: float = 1.0) -> BoolArray:
    """Tell who, in most of the last 100 of T rounds, plays an arm clearly worse than the best.

    Worse by more than sigma sqrt(8 log T / T), which T rounds can tell from 0.
    """
    horizon = regret.shape[1]
    gap = sigma * np.sqrt(8 * np.log(horizon) / horizon)
    wrong: BoolArray = (regret[:, -100:] > gap).mean(axis=1) > 0.5
    return wrong


def report(setting: Setting, found: dict[str, FloatArray]) -> None:
    """Print the mean cumulative regret."""
    print(f"\n{setting.name}: mean cumulative regret\n")
    print("| policy | " + " | ".join(f"T={t}" for t in setting.rounds) + " |")
    print("|" + "---|" * (len(setting.rounds) + 1))
    for name, regret in found.items():
        total = regret.mean(axis=0).cumsum()[np.array(setting.rounds) - 1]
        print(f"| {name} | {' | '.join(f'{v:.1f}' for v in total)} |", flush=True)


def report_wrong(setting: Setting, found: dict[str, FloatArray], seeds: range) -> None:
    """Print who is wrong after T rounds where TS is not, and whether they still are after 4 T."""
    ts, mine = wrong_at_end(found["ts"]), wrong_at_end(found["lobbayes"])
    only = (mine & ~ts).reshape(len(seeds), -1)
    print(f"\nwrong at the end, of {len(ts)} users: {ts.sum()} with TS, {only.sum()} LobBayes only")
    for seed, users in zip(seeds, only, strict=True):
        if users.any():
            task = setting.task_of(seed)
            table = past_logs(task, np.random.default_rng([seed, 3]))
            policy = setting.policies_of(table, task, seed)["lobbayes"]
            regret = play(policy, task, 4 * setting.rounds[-1], seed)[users]
            still = wrong_at_end(regret, task.sigma)
            rounds = [int(np.flatnonzero(row > 0.1)[-1]) + 1 for row in regret]
            ending = regret[:, -100:].mean(axis=1).round(3).tolist()
            print(
                f"seed {seed}: of {users.sum()}, {still.sum()} after 4 T; a regret above 0.1 was "
                f"last met in round {rounds}; a round of the last 100 costs {ending}",
                flush=True,
            )


def draw(found: dict[str, FloatArray], path: str) -> None:
    """Draw the cumulative regret of all rivals, each named at its line."""
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.0, 4.2))
    drawn = [name for name in DRAWN if name in found]
    for name in drawn:
        policy = name.partition(",")[0]
        style = line_styles([policy])[policy] | {"marker": None}
        total = found[name].mean(axis=0).cumsum()
        width = 2.6 if name == "lobbayes" else 1.3
        ax.plot(np.arange(1, len(total) + 1), total, **(style | {"linewidth": width}))
    ax.set(xlabel="choices of a new user", xlim=(0, ROUNDS[-1]), ylim=(0, None))
    ax.set_ylabel("mean regret so far: lower is better")
    ax.spines[["top", "right"]].set_visible(False)
    label_lines(ax, [name.partition(",")[0] for name in drawn])
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="an edition of MovieLens")
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="so many seeds of the five")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--policies", default="", help="only those whose name has one of these")
    parser.add_argument("--plot", metavar="FILE", help=f"draw the regret on {DRAWN_SETTING}")
    options = parser.parse_args()
    seeds = SEEDS[: 1 if options.quick else options.seeds]
    print(machine())
    for setting in settings(options.folder):
        if options.only in setting.name:
            found = measure(setting, seeds, options.policies.split(","))
            report(setting, found)
            if "long" in setting.name:
                report_wrong(setting, found, seeds)
            if options.plot and setting.name == DRAWN_SETTING:
                draw(found, options.plot)


if __name__ == "__main__":
    main()
