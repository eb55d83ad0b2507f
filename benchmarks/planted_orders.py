"""Regret where users follow planted orders: LobBayes learns them, another checkout beside it.

600 past users with scales and shifts of their own leave 60 random rewards each; new users play,
whose gaps between neighbours in the order are all 1 or drawn for each user. Regret is in units of
the user's scale. Run with ``python benchmarks/planted_orders.py --landed PATH`` (``--only
"sigma=5"``: settings whose name has that text). Bars: of the other checkout at most 1 at trust 0.5
and 1.1 at 0.999.
"""

import argparse
from collections.abc import Callable, Mapping

import games
import numpy as np
from games import Checkout, Floats, Game, Learned
from numpy.typing import NDArray
from timing import machine

SEED, WORLDS = 90, 3  # for reporting; details were chosen on other seeds
K, PAST, PLAYERS, REWARDS, HORIZON = 15, 600, 150, 60, 200
TRUSTS = (0.0, 0.5, 0.999)
GAPS: Mapping[str, Callable[[np.random.Generator, int], Floats]] = {
    "linear": lambda rng, n: np.ones((n, K - 1)),
    "uniform gaps": lambda rng, n: rng.uniform(0.0, 2.0, (n, K - 1)),
}
"""Of each user, between neighbours in the order; 1 on average."""
SETTINGS = [(m, gaps, sigma) for sigma in (1.0, 5.0) for m in (4, 10) for gaps in GAPS]


def users(
    n: int, rankings: NDArray[np.int64], gaps: str, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Draw users: their means, with the worst arm at their shift, and their scales."""
    states = rng.integers(len(rankings), size=n)
    heights = np.cumsum(GAPS[gaps](rng, n)[:, ::-1], axis=1)[:, ::-1]
    ranked = np.concatenate([heights, np.zeros((n, 1))], axis=1)
    scale = np.exp(rng.uniform(np.log(0.5), np.log(2.0), n))
    means = np.empty((n, K))
    np.put_along_axis(means, rankings[states], ranked, axis=1)
    return scale[:, None] * means + rng.uniform(-5.0, 5.0, (n, 1)), scale


def world(m: int, gaps: str, sigma: float, seed: int) -> tuple[Game, Floats]:
    """Return a game, and the players' scales."""
    rng = np.random.default_rng([seed, 5])
    rankings = np.array([rng.permutation(K) for _ in range(m)])
    past, _ = users(PAST, rankings, gaps, rng)
    players, scale = users(PLAYERS, rankings, gaps, rng)
    return Game(past, players, REWARDS, seed, "gaussian", sigma), scale


def totals(learned: Learned, scale: Floats) -> list[float]:
    """Return regret by trust, in units of the users' scales."""
    return [float((p.regret.sum(axis=1) / scale).mean()) for p in learned.played]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--landed", metavar="PATH", required=True, help="another checkout")
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    options = parser.parse_args()
    landed, seeds = Checkout(options.landed), range(options.seed, options.seed + options.worlds)
    print(f"{machine()}\n\nLobBayes / that of the other checkout, T = {HORIZON}\n")
    print(f"| setting | {' | '.join(f'trust {t:g}' for t in TRUSTS)} |\n|---|---|---|---|")
    for m, gaps, sigma in SETTINGS:
        if options.only in f"{m} orders, {gaps}, sigma={sigma:g}":
            mine, theirs = [], []
            for seed in seeds:
                game, scale = world(m, gaps, sigma, seed)
                given = game, HORIZON, TRUSTS, m
                mine.append(totals(games.lobbayes(*given), scale))
                theirs.append(totals(landed(games.lobbayes, *given), scale))
            pairs = zip(np.mean(mine, axis=0), np.mean(theirs, axis=0), strict=True)
            cells = " | ".join(f"{a:.1f} / {b:.1f}: {a / b:.2f}" for a, b in pairs)
            print(f"| {m} orders, {gaps}, sigma={sigma:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
