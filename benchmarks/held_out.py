"""Regret on held-out real users: LobBayes and all rivals, taught by the same logs.

Half of the users of a MovieLens edition teach, with 60 rewards each on random genres; the others
play. Run with ``python benchmarks/held_out.py FOLDER`` (``--quick`` for one seed, ``--only raw``
for the settings whose name has that text).
"""

import argparse
import csv
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from timing import machine

import lobandits as lob
from lobandits._checks import FloatArray
from lobandits.learning.prior import learn_prior
from lobandits.policies.lobbayes import LobBayes
from lobandits.policies.mixts import MixTS
from lobandits.policies.popular import Popular

SEEDS = range(10, 15)  # for reporting; details were chosen on others
REWARDS, LEARNERS, STATES = 60, 100, 20
ROUNDS = (10, 25, 50, 100, 200, 500)
FILTERS = {"min_movie_ratings": 20, "min_user_ratings": 100}


class Task(NamedTuple):
    """Users who teach and users who play, with the orders that hold, if any do."""

    learners: FloatArray
    players: FloatArray
    sigma: float
    clicks: bool
    orders: lob.LatentOrders | None


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


def policies(table: lob.RewardTable, task: Task, seed: int) -> dict[str, lob.Policy]:
    """Return all rivals, each with what it can take from the logs."""
    model = lob.learn_orders(table, n_states=STATES, method="kendall", seed=seed)
    orders = model.orders
    if task.orders is not None:
        orders = task.orders
    auto = learn_prior(table, seed=seed).prior
    one = learn_prior(table, n_states=1, seed=seed).prior
    sigma = 0.5 if task.clicks else task.sigma
    return {
        "popular": Popular(auto),
        "ts": lob.TS(table.n_arms, sigma),
        "mts": lob.MTS(model.state_means, sigma),
        "mixts, one state": MixTS(one),
        "lobts": lob.LobTS(orders, sigma),
        "lobids": lob.LobIDS(orders, sigma),
        "lobbayes": LobBayes(auto),
        "lobbayes, 8 states": LobBayes(learn_prior(table, n_states=8, seed=seed).prior),
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


def tasks(folder: str) -> Iterator[tuple[str, Callable[[int], Task]]]:
    """Yield the settings by name; a task for each seed of split, genre draw and start."""
    ratings, clicks = lob.load_movielens(folder), lob.load_movielens(as_clicks(folder))

    def env(seed: int, source: object = ratings) -> lob.MovieLens:
        return lob.MovieLens(source, n_states=STATES, seed=seed, progress=False, **FILTERS)  # type: ignore[arg-type]

    for sigma in (1.0, 2.0):
        yield (
            f"raw means, sigma {sigma:g}",
            lambda seed, sigma=sigma: Task(  # type: ignore[misc]
                *split(env(seed).means0, seed), sigma, False, None
            ),
        )
    yield (
        "Setting A, sigma 1",
        lambda seed: Task(*split(env(seed).projected, seed), 1.0, False, env(seed).orders),
    )
    yield (
        "clicks",
        lambda seed: Task(*split(env(seed, clicks).means0.clip(0, 1), seed), 0.5, True, None),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", help="an edition of MovieLens")
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    options = parser.parse_args()
    print(machine())
    for name, task_of in tasks(options.folder):
        if options.only not in name:
            continue
        found: dict[str, list[FloatArray]] = {}
        for seed in SEEDS[:1] if options.quick else SEEDS:
            task = task_of(seed)
            table = past_logs(task, np.random.default_rng([seed, 3]))
            for policy, value in policies(table, task, seed).items():
                regret = play(value, task, ROUNDS[-1], seed).mean(axis=0).cumsum()
                found.setdefault(policy, []).append(regret[np.array(ROUNDS) - 1])
        print(f"\n{name}: mean cumulative regret\n")
        print("| policy | " + " | ".join(f"T={t}" for t in ROUNDS) + " |")
        print("|" + "---|" * (len(ROUNDS) + 1))
        for policy, rows in found.items():
            cells = " | ".join(f"{v:.1f}" for v in np.mean(rows, axis=0))
            print(f"| {policy} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
