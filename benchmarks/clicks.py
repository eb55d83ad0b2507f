"""Clicks and counts in generated worlds: LobBayes against Popular and MixTS, on the same prior.

A world has four states; users have levels and tastes of their own, in log odds, or log rates:
eta = base + state's N(0, 0.8^2) + level N(0, 0.5^2) + own N(0, 0.4^2), for 15 arms; the base makes
the average rate. 4,000 past users teach. Run with ``python benchmarks/clicks.py`` (``--worlds 2``,
``--only 3``: settings whose name has that text, ``--landed PATH``: another checkout's LobBayes
beside it). Bars: on average over worlds at most 1.02 of Popular and MixTS, in no world above 1.06.
"""

import argparse

import games
import numpy as np
from games import Checkout, Floats, Game, Learned, play
from timing import machine

import lobandits as lob

SEED, WORLDS = 400, 10  # for reporting; details were chosen on other seeds
K, STATES, PAST, PLAYERS = 15, 4, 4000, 400
TYPES, LEVEL, OWN = 0.8, 0.5, 0.4  # what states, levels and tastes differ by
ROUNDS = np.array((10, 25, 100))
CLICKS = {  # rate, past impressions a user: the bar of LobBayes over Popular at T = 100
    (0.009, 40): 0.92,
    (0.03, 40): 0.72,
    (0.066, 8): 0.68,
    (0.066, 40): 0.62,
    (0.19, 20): 0.52,
    (0.43, 40): 0.50,
}
COUNTS = ((0.2, 20), (1.0, 20), (5.0, 20))
RIVALS = "popular", "mixts"


def world(kind: str, rate: float, rewards: int, seed: int, past: int = PAST) -> Game:
    """Return a world: the mean rewards of its past and new users."""
    rng, n = np.random.default_rng([seed, 6]), past + PLAYERS
    eta = TYPES * rng.standard_normal((STATES, K))[rng.integers(STATES, size=n)]
    eta += LEVEL * rng.standard_normal((n, 1)) + OWN * rng.standard_normal((n, K))
    low, high = -20.0, 20.0
    for _ in range(60):  # halves: the mean rises with the base
        base = (low + high) / 2
        means = np.exp(base + eta)
        means = means / (1.0 + means) if kind == "bernoulli" else means
        low, high = (base, high) if means.mean() < rate else (low, base)
    return Game(means[:past], means[past:], rewards, seed, kind)


def measure(game: Game, landed: Checkout | None) -> dict[str, Floats]:
    """Return mean regret after the rounds, (3,), by policy."""
    horizon = int(ROUNDS[-1])
    prior = games.learned_prior(games.table(game), kind=game.kind, seed=game.seed)
    policies = lob.LobBayes(prior), lob.Popular(prior), lob.MixTS(prior)
    found = {
        name: play(policy, game, horizon).regret
        for name, policy in zip(("lobbayes", *RIVALS), policies, strict=True)
    }
    if landed is not None:
        theirs: Learned = landed(games.lobbayes, game, horizon)
        found["landed"] = theirs.played[0].regret
    return {name: r.mean(axis=0).cumsum()[ROUNDS - 1] for name, r in found.items()}


def report(name: str, bar: float | None, found: dict[str, Floats]) -> None:
    """Print a row for each T: ratios of averages over worlds, and the worst world's."""
    mine = found["lobbayes"]
    for i, t in enumerate(ROUNDS):
        cells = [f"{mine[:, i].mean():.3g}"]
        for other, regret in found.items():
            if other != "lobbayes":
                ratio, worst = mine[:, i].mean() / regret[:, i].mean(), mine[:, i] / regret[:, i]
                cells.append(f"{ratio:.2f}, {worst.max():.2f}")
        shown = f"{bar:.2f}" if bar is not None and t == ROUNDS[-1] else ""
        print(f"| {name} | {t} | {' | '.join(cells)} | {shown} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--seed", type=int, default=SEED, help="of the first world")
    parser.add_argument("--landed", metavar="PATH", help="another checkout")
    options = parser.parse_args()
    landed = Checkout(options.landed) if options.landed else None
    names = [*RIVALS, *["landed"] * (landed is not None)]
    print(
        f"{machine()}\n\nLobBayes: mean regret, its ratio to rivals, and that of the worst world\n"
    )
    print(f"| rewards | T | lobbayes | {' | '.join(names)} | bar, of popular |")
    print("|---|---|---|---|" + "---|" * len(names))
    jobs = [
        ("bernoulli", f"clicks, {100 * r:g} %, {n}", r, n, bar) for (r, n), bar in CLICKS.items()
    ]
    counts = [("poisson", f"counts, {r:g}, {n}", r, n, None) for r, n in COUNTS]
    for kind, name, rate, rewards, bar in [*jobs, *counts]:
        if options.only in name:
            seeds = range(options.seed, options.seed + options.worlds)
            parts = [measure(world(kind, rate, rewards, seed), landed) for seed in seeds]
            report(name, bar, {key: np.array([p[key] for p in parts]) for key in parts[0]})


if __name__ == "__main__":
    main()
