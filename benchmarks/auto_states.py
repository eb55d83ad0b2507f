"""The number of states that held-out evidence chooses, against the best to decide with.

Past users teach a prior with each number of states of a grid, and with the number chosen; LobBayes
decides with each for other users. Tasks: half of the users of a MovieLens edition, ratings and
clicks, and generated logs, rich and sparse. Bar: the regret of the chosen number is at most 1.1
times the least of the grid. Run with ``python benchmarks/auto_states.py FOLDER`` (``--quick`` for
one seed, ``--only shop`` for the tasks whose name has that text; without a folder generated logs).
"""

import argparse
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from timing import show

import lobandits as lob
from lobandits.basics.checks import FloatArray, IntArray
from lobandits.learning.fit_prior import fit_prior

SEEDS = range(20, 23)
GRID = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27)
HORIZON, PLAYERS, BAR = 100, 200, 1.1
FILTERS = {"min_movie_ratings": 20, "min_user_ratings": 100}


class Task(NamedTuple):
    """Means of users who teach and users who play, and how many rewards each teacher leaves."""

    teachers: FloatArray
    players: FloatArray
    rewards: IntArray
    sigma: float
    clicks: bool


def reward(means: FloatArray, task: Task, rng: np.random.Generator) -> FloatArray:
    """Draw a reward for each mean."""
    if task.clicks:
        return (rng.random(means.shape) < means).astype(np.float64)
    return means + task.sigma * rng.standard_normal(means.shape)


def past_logs(task: Task, rng: np.random.Generator) -> lob.RewardTable:
    """Return the table of what the teachers' random arms brought."""
    n, k = task.teachers.shape
    users = np.repeat(np.arange(n), task.rewards)
    arms = rng.integers(k, size=len(users))
    values = reward(task.teachers[users, arms], task, rng)
    counts, sums, squares = np.zeros((n, k), np.int64), np.zeros((n, k)), np.zeros((n, k))
    for cells, more in ((counts, 1), (sums, values), (squares, values**2)):
        np.add.at(cells, (users, arms), more)
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), counts, sums, squares)


def play(policy: lob.Policy, task: Task, seed: int) -> float:
    """Return the mean cumulative regret of the players."""
    rng, draws = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    n = len(task.players)
    users, best = np.arange(n), task.players.max(axis=1)
    state, regret = policy.start(n), 0.0
    for _ in range(HORIZON):
        arms = policy.choose(state, rng)
        means = task.players[users, arms]
        policy.record(state, arms, reward(means, task, draws))
        regret += float((best - means).mean())
    return regret


def movielens(folder: str, sigma: float, clicks: bool) -> Callable[[int], Task]:
    """Return the task of an edition's users on their raw means; a click is at least 4 stars."""
    ratings = lob.load_movielens(folder)

    def task(seed: int) -> Task:
        env = lob.MovieLens(ratings, n_states=2, seed=seed, progress=False, **FILTERS)
        means = env.means0
        if clicks:  # the chance of 4 stars or more, for ratings that vary by one star
            means = 1 / (1 + np.exp(-1.7 * (means - 3.75)))
        order = np.random.default_rng([seed, 77]).permutation(len(means))
        half = len(means) // 2
        teachers, players = means[order[:half]], means[order[half:]][:PLAYERS]
        return Task(teachers, players, np.full(half, 60), sigma, clicks)

    return task


def planted(states: int, scale: tuple[float, float], own: float) -> Callable[[int], Task]:
    """Return the task of users of some orders, with scales, and some means of their own."""

    def task(seed: int) -> Task:
        rng, n, k = np.random.default_rng([seed, 5]), 800, 10
        levels = np.array([rng.permutation(k) for _ in range(states)]) / (k - 1) * 4
        factors = np.exp(rng.uniform(np.log(scale[0]), np.log(scale[1]), n))[:, None]
        means = factors * levels[rng.integers(states, size=n)] + own * rng.standard_normal((n, k))
        return Task(means[PLAYERS:], means[:PLAYERS], np.full(n - PLAYERS, 40), 1.0, False)

    return task


def shop(users: int, states: int) -> Callable[[int], Task]:
    """Return the task of customers who click on products; a third left one to five events."""

    def task(seed: int) -> Task:
        rng, n, k = np.random.default_rng([seed, 6]), users + PLAYERS, 12
        logits = rng.normal(-1.5, 1.0, (states, k))[rng.integers(states, size=n)]
        logits += 0.5 * rng.standard_normal((n, 1)) + 0.3 * rng.standard_normal((n, k))
        means = 1 / (1 + np.exp(-logits))
        few = rng.random(users) < 1 / 3
        events = np.where(few, rng.integers(1, 6, users), rng.integers(6, 60, users))
        return Task(means[PLAYERS:], means[:PLAYERS], events, 0.5, True)

    return task


def tasks(folder: str | None) -> dict[str, Callable[[int], Task]]:
    """Return the tasks by name."""
    real = {}
    if folder is not None:
        real["MovieLens, sigma 1"] = movielens(folder, 1.0, False)
        real["MovieLens, sigma 2"] = movielens(folder, 2.0, False)
        real["MovieLens, clicks"] = movielens(folder, 0.5, True)
    return real | {
        "4 orders": planted(4, (1.0, 1.0), 0.3),
        "4 orders, scales": planted(4, (0.3, 3.0), 0.3),
        "12 orders, scales": planted(12, (0.5, 2.0), 0.3),
        "no orders": planted(600, (0.5, 2.0), 0.3),
        "shop, 4 states": shop(3000, 4),
        "small shop, 3 states": shop(150, 3),
        "shop, 15 states": shop(2000, 15),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", help="an edition of MovieLens; else generated logs")
    parser.add_argument("--quick", action="store_true", help="one seed")
    parser.add_argument("--only", default="", help="only tasks whose name has this text")
    options = parser.parse_args()
    rows = []
    for name, task_of in tasks(options.folder).items():
        if options.only not in name:
            continue
        fixed, chosen, numbers, spent = [], [], [], 0.0
        for seed in SEEDS[:1] if options.quick else SEEDS:
            task = task_of(seed)
            table = past_logs(task, np.random.default_rng([seed, 3]))
            start = time.perf_counter()
            auto = fit_prior(table, seed=seed).prior
            spent += time.perf_counter() - start
            grid = [m for m in GRID if m * 8 <= table.n_users]
            priors = [fit_prior(table, n_states=m, seed=seed).prior for m in grid]
            fixed.append([play(lob.LobBayes(prior), task, seed) for prior in priors])
            chosen.append(play(lob.LobBayes(auto), task, seed))
            numbers.append(auto.n_states)
        by_number = np.mean(fixed, axis=0)
        least, mine = by_number.min(), float(np.mean(chosen))
        curve = " ".join(f"{m}: {r:.2f}" for m, r in zip(grid, by_number, strict=True))
        print(f"{name}: {curve}; chosen {numbers}: {mine:.2f}, {spent:.0f} s", flush=True)
        best = grid[int(by_number.argmin())]
        rows.append((name, best, f"{least:.1f}", numbers, f"{mine:.1f}", f"{mine / least:.2f}"))
    columns = ("job", "best number", "its regret", "chosen", "its regret", "ratio")
    show(f"Regret after {HORIZON} rounds; bar: a ratio of at most {BAR}", columns, rows)


if __name__ == "__main__":
    main()
