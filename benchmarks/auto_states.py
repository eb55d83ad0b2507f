"""The number of states that held-out evidence chooses, against the best to decide with.

Past users teach a prior with each number of states of a grid, and with the number chosen; LobBayes
decides with each for other users. Tasks: half of the users of a MovieLens edition, ratings and
likes, and generated logs, rich and sparse. Bar: the regret of the chosen number is at most 1.1
times the least of the grid. Run with ``python benchmarks/auto_states.py FOLDER`` (``--quick`` for
one seed, ``--only shop`` for the tasks whose name has that text; without a folder generated logs).
"""

import argparse
import time
from collections.abc import Callable

import games
import numpy as np
from games import Floats, Game, split
from timing import show

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior

SEEDS = range(20, 23)
GRID = (1, 2, 3, 4, 6, 8, 11, 15, 20, 27)
HORIZON, PLAYERS, BAR = 100, 200, 1.1


def real(means: Floats, kind: str, sigma: float) -> Callable[[int], Game]:
    """Return the game of real people, half of whom teach."""

    def game(seed: int) -> Game:
        return Game(*split(means, len(means) // 2, PLAYERS, seed), 60, seed, kind, sigma)

    return game


def planted(states: int, scale: tuple[float, float], own: float) -> Callable[[int], Game]:
    """Return the task of users of some orders, with scales, and some means of their own."""

    def game(seed: int) -> Game:
        rng, n, k = np.random.default_rng([seed, 5]), 800, 10
        levels = np.array([rng.permutation(k) for _ in range(states)]) / (k - 1) * 4
        factors = np.exp(rng.uniform(np.log(scale[0]), np.log(scale[1]), n))[:, None]
        means = factors * levels[rng.integers(states, size=n)] + own * rng.standard_normal((n, k))
        return Game(means[PLAYERS:], means[:PLAYERS], 40, seed)

    return game


def shop(users: int, states: int) -> Callable[[int], Game]:
    """Return the task of customers who click on products; a third left one to five events."""

    def game(seed: int) -> Game:
        rng, n, k = np.random.default_rng([seed, 6]), users + PLAYERS, 12
        logits = rng.normal(-1.5, 1.0, (states, k))[rng.integers(states, size=n)]
        logits += 0.5 * rng.standard_normal((n, 1)) + 0.3 * rng.standard_normal((n, k))
        means = 1 / (1 + np.exp(-logits))
        few = rng.random(users) < 1 / 3
        events = np.where(few, rng.integers(1, 6, users), rng.integers(6, 60, users))
        return Game(means[PLAYERS:], means[:PLAYERS], events, seed, "bernoulli")

    return game


def lost(prior: lob.Prior, game: Game) -> float:
    """Return the players' mean cumulative regret."""
    return float(games.play(lob.LobBayes(prior), game, HORIZON).regret.sum(axis=1).mean())


def tasks(folder: str | None) -> dict[str, Callable[[int], Game]]:
    """Return the tasks by name."""
    films = {}
    if folder is not None:
        rated, liked = (games.movielens(folder, likes, least=100) for likes in (False, True))
        films["MovieLens, sigma 1"] = real(rated, "gaussian", 1.0)
        films["MovieLens, sigma 2"] = real(rated, "gaussian", 2.0)
        films["MovieLens, likes"] = real(liked, "bernoulli", 0.5)
    return films | {
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
    for name, game_of in tasks(options.folder).items():
        if options.only not in name:
            continue
        fixed, chosen, numbers, spent = [], [], [], 0.0
        for seed in SEEDS[:1] if options.quick else SEEDS:
            game = game_of(seed)
            table = games.table(game)
            start = time.perf_counter()
            auto = fit_prior(table, seed=seed).prior
            spent += time.perf_counter() - start
            grid = [m for m in GRID if m * 8 <= table.n_users]
            priors = [fit_prior(table, n_states=m, seed=seed).prior for m in grid]
            fixed.append([lost(prior, game) for prior in priors])
            chosen.append(lost(auto, game))
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
