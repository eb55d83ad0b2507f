"""LobIDS, which knows the orders alone, against that of another checkout: regret and cost.

The settings are those of beyond.py, one change at a time from 15 total orders of linear means; and
random DAGs, Student's noise of three degrees of freedom, and a sigma that is half or twice the
right one. Regret is in units of the gap between neighbours. Run with
``python benchmarks/orders_alone.py --landed PATH`` (``--users 24``, ``--only q=0.8``: those whose
name has that text). Bars: on average at most 1, in no row above 1.05 of the other's regret; at most
3 times its time on total orders and 1.5 at q = 0.8.
"""

import argparse
from collections.abc import Iterator

import games
import numpy as np
from beyond import K, settings
from games import Checkout, Game, Played
from numpy.typing import NDArray
from timing import machine

SEED = 77  # for reporting; details were chosen on other seeds
ROUNDS = np.array((200, 500))
DAG_SHARE = 0.15  # of the pairs of an order
Closures = NDArray[np.bool_]


def all_settings(n_users: int, seed: int) -> Iterator[tuple[str, Game, float]]:
    """Yield names, games, and the sigma that policies are told."""
    for name, env in settings(cross=False):
        problems = env.sample(n_users, seed)
        sigma, precedes = problems.sigma, problems.known_orders.precedes
        closures = precedes if precedes.ndim == 4 else precedes[None]
        nobody = np.zeros((0, K))
        game = Game(nobody, problems.means, 0, seed, "gaussian", sigma, closures)
        yield name, game, sigma
        if name.endswith(" m=15"):
            rng = np.random.default_rng([seed, K])
            yield f"{name} DAGs", game._replace(precedes=dags(closures, n_users, rng)), sigma
            yield f"{name} heavy tails", game._replace(kind="student"), sigma
            yield f"{name} told sigma / 2", game, sigma / 2
            yield f"{name} told 2 sigma", game, sigma * 2


def dags(closures: Closures, n_users: int, rng: np.random.Generator) -> Closures:
    """Return some pairs of each total order, for each user."""
    every = np.broadcast_to(closures, (n_users, *closures.shape[1:]))
    kept: Closures = every & (rng.random(every.shape) < DAG_SHARE)
    return kept


def row(name: str, game: Game, mine: Played, other: Played) -> float:
    """Print regret, its ratio and that of the cost; return the ratio after the last round."""
    unit, cells, ratio = np.ptp(game.players, axis=1) / (K - 1), [], 1.0
    for horizon in ROUNDS:
        a, b = (p.regret[:, :horizon].sum(axis=1) / unit for p in (mine, other))
        ratio = float(a.mean() / b.mean())
        error = (a - ratio * b).std(ddof=1) / np.sqrt(len(a)) / b.mean()
        cells.append(f"{a.mean():.1f} / {b.mean():.1f}: {ratio:.2f} ± {error:.2f}")
    cost = f"{mine.microseconds:.0f} / {other.microseconds:.0f}"
    cells.append(f"{cost}: {mine.microseconds / other.microseconds:.2f}")
    print(f"| {name} | {' | '.join(cells)} |", flush=True)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--landed", metavar="PATH", required=True, help="another checkout")
    parser.add_argument("--users", type=int, default=96, help="users in each setting")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    options = parser.parse_args()
    landed = Checkout(options.landed)
    print(f"{machine()}\n\nLobIDS / that of the other checkout\n")
    print(
        f"| setting | {' | '.join(f'T={t}' for t in ROUNDS)} | us a decision |\n|---|---|---|---|"
    )
    ratios, horizon = [], int(ROUNDS[-1])
    for name, game, told in all_settings(options.users, options.seed):
        if options.only in name:
            mine = games.lobids(game, horizon, told)
            ratios.append(row(name, game, mine, landed(games.lobids, game, horizon, told)))
    print(f"\nratio on average, T={horizon}: {np.mean(ratios):.3f}")


if __name__ == "__main__":
    main()
