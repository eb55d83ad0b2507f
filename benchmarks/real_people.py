"""Ratings, likes and answers of real people: LobBayes and its rivals, taught by the same few logs.

Some people of ml-latest-small (genres; likes are 4 stars or more), InstEval (departments) and bfi
(statements) teach, with a few random rewards each; others play, on their own means. Run with
``python benchmarks/real_people.py DATA`` (``--only bfi``: settings whose name has that text,
``--splits 1``, ``--landed PATH``: another checkout's LobBayes beside it, ``--plot FILE``). Bars: in
every row on average below all rivals; of the other checkout at most 1 on average and 1.05 in each
row, on likes 0.75 at T = 400.
"""

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import games
import numpy as np
from games import Checkout, Floats, Game, Learned, arm_priors, clustered, play, split
from timing import machine

import lobandits as lob

SEED, SPLITS = 40, 3  # for reporting; details were chosen on other seeds
PLAYERS, REPEATS = 120, 5  # people who play, and how often: with LobBayes, that is
PAST = [(n, rewards) for n in (20, 50, 100, 300) for rewards in (10, 30)]
LIKES = [(50, 20), (300, 40)]
ROUNDS = np.array((10, 25, 100, 400))
PERMUTED = 1000  # rounds with permuted arms
RIVALS = "popular", "ts, learned", "mixts", "lobts", "lobids"


def settings(data: Path) -> Iterator[tuple[str, Callable[[], Floats], list[tuple[int, int]], str]]:
    """Yield people's means, how many of them teach and how much, and the kind of their rewards."""
    films, bfi, students = data / "ml-latest-small", data / "bfi", data / "insteval"
    person = "person", "statement", "agreement"
    yield "films", partial(games.movielens, str(films)), PAST, "gaussian"
    student = str(students / "ratings.csv"), "student", "department", "rating", 8
    yield "insteval", partial(games.answers, *student), PAST, "gaussian"
    yield "bfi", partial(games.answers, str(bfi / "answers.csv"), *person, 20), PAST, "gaussian"
    yield "likes", partial(games.movielens, str(films), True), LIKES, "bernoulli"


def rivals(game: Game) -> dict[str, lob.Policy]:
    """Return what else could play, each with what it can take from the logs."""
    logs = games.table(game)
    prior, (orders, _) = games.learned_prior(logs, seed=game.seed), clustered(logs, game.seed)
    sigma = 0.5 if game.kind == "bernoulli" else game.sigma
    policies = (
        lob.Popular(prior),
        lob.TS(logs.n_arms, sigma, *arm_priors(logs)),
        lob.MixTS(prior),
        lob.LobTS(orders, sigma),
        lob.LobIDS(orders, sigma),
    )
    return dict(zip(RIVALS, policies, strict=True))


def totals(regret: Floats) -> Floats:
    """Return each person's regret after the rounds, on average over repeats, (n, 4)."""
    by_round = regret.cumsum(axis=1)[:, ROUNDS - 1]
    mean: Floats = by_round.reshape(-1, min(PLAYERS, len(regret)), len(ROUNDS)).mean(axis=0)
    return mean


def measure(game: Game, landed: Checkout | None, alone: bool) -> dict[str, Floats]:
    """Return the players' regret after the rounds, by policy."""
    horizon = int(ROUNDS[-1])
    often = game._replace(players=np.tile(game.players, (REPEATS, 1)))
    mine = games.lobbayes(often, horizon)
    regret = {"lobbayes": totals(mine.played[0].regret)}
    if landed is not None:
        theirs: Learned = landed(games.lobbayes, often, horizon)
        regret["landed"] = totals(theirs.played[0].regret)
    if not alone:
        for name, policy in rivals(game).items():
            regret[name] = totals(play(policy, game, horizon).regret)
    return regret


def permuted(means: Floats, seed: int) -> tuple[float, float]:
    """Return the regret of LobBayes and of TS where arms changed places after the logs."""
    game = Game(*split(means, 100, PLAYERS, seed), 60, seed)
    arms = np.random.default_rng([seed, 78]).permutation(means.shape[1])
    wrong = game._replace(players=game.players[:, arms])
    prior = games.learned_prior(games.table(game), seed=seed)
    policies: tuple[lob.Policy, ...] = lob.LobBayes(prior), lob.TS(means.shape[1], game.sigma)
    mine, ts = (float(play(p, wrong, PERMUTED).regret.sum(axis=1).mean()) for p in policies)
    return mine, ts


def report(name: str, found: dict[str, Floats]) -> None:
    """Print a row for each T: LobBayes's regret, and its ratio to every rival's."""
    mine = found["lobbayes"]
    for i, t in enumerate(ROUNDS):
        cells = [f"{mine[:, i].mean():.1f}"]
        for other, regret in found.items():
            if other != "lobbayes":
                ratio = mine[:, i].mean() / regret[:, i].mean()
                miss = mine[:, i] - ratio * regret[:, i]
                error = miss.std(ddof=1) / np.sqrt(len(miss)) / regret[:, i].mean()
                cells.append(f"{ratio:.2f} ± {error:.2f}")
        print(f"| {name} | {t} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder of ml-latest-small, insteval and bfi")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--seed", type=int, default=SEED, help="of the first split")
    parser.add_argument("--alone", action="store_true", help="no rivals")
    parser.add_argument("--landed", metavar="PATH", help="another checkout")
    options = parser.parse_args()
    landed = Checkout(options.landed) if options.landed else None
    names = ["landed"] * (landed is not None) + list(RIVALS) * (not options.alone)
    print(f"{machine()}\n\nLobBayes: mean cumulative regret, and its ratio to that of rivals\n")
    print(f"| people, past x rewards | T | lobbayes | {' | '.join(names)} |")
    print("|---|---|---|" + "---|" * len(names))
    for name, load, past, kind in settings(options.data):
        means = load() if any(options.only in f"{name}, {n} x {r}" for n, r in past) else None
        for n, rewards in past:
            setting = f"{name}, {n} x {rewards}"
            if means is None or options.only not in setting:
                continue
            parts = []
            for seed in range(options.seed, options.seed + options.splits):
                game = Game(*split(means, n, PLAYERS, seed), rewards, seed, kind)
                parts.append(measure(game, landed, options.alone))
            report(setting, {key: np.concatenate([p[key] for p in parts]) for key in parts[0]})
    if options.only in "permuted":
        seeds = range(options.seed, options.seed + options.splits)
        films = games.movielens(str(options.data / "ml-latest-small"))
        mine, ts = np.mean([permuted(films, seed) for seed in seeds], axis=0)
        print(f"\nfilms, arms permuted, T = {PERMUTED}: {mine:.0f}, {mine / ts:.2f} of TS")


if __name__ == "__main__":
    main()
