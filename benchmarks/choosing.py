"""Which policy to take: regret by what is known, where it is played, and how long.

Users who taught nothing play: of a MovieLens edition and of InstEval, whose other users left 60
random rewards each; and of problems whose orders are true. Policies that have c (the sigma they
are told) play with half of it and twice of it, too. Then what a wrong sigma costs, for ratings,
clicks and counts. Run with ``python benchmarks/choosing.py MOVIELENS INSTEVAL`` (``--quick``: one
seed and T up to 100; ``--only TEXT``: the settings whose name has it; ``--json FILE``: the regret
of every user).
"""

import argparse
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import games
import numpy as np
from games import Game, arm_priors, clustered, split
from planted_orders import users as true_users
from timing import machine

import lobandits as lob
from lobandits.basics.checks import FloatArray

SEEDS = (20, 21, 22)  # for reporting only; nothing was chosen on them
ROUNDS = (10, 30, 100, 500, 4000)
LEARNERS, REWARDS, PLAYERS, LEAST_DEPARTMENTS = 100, 60, 60, 8
FACTORS = (0.5, 2.0)  # of c, beside 1
WRONG = (0.25, 0.5, 1.0, 2.0, 4.0)  # of sigma
NOTHING, ORDERS, LOGS = "nothing", "orders", "logs"
Make = Callable[[float], lob.Policy]


class Task(NamedTuple):
    """A game; what policies are told of sigma; true orders, if there are any."""

    game: Game
    sigma: float
    orders: lob.LatentOrders | None = None


class Setting(NamedTuple):
    """Tasks by seed."""

    name: str
    task: Callable[[int], Task]
    rounds: tuple[int, ...] = ROUNDS


class Contender(NamedTuple):
    """A policy, by the sigma that it is told, and what one must have for it."""

    needs: str
    make: Make
    has_c: bool = False
    has_sigma: bool = True


def told_sigma(prior: lob.Prior, sigma: float) -> lob.Prior:
    """Return a prior of Gaussian rewards with this sigma; other rewards have no sigma to tell."""
    if not isinstance(prior.likelihood, lob.Gaussian):
        return prior
    return prior.with_likelihood(lob.Gaussian(sigma))


def contenders(table: lob.RewardTable, task: Task, seed: int) -> dict[str, Contender]:
    """Return every policy, each with what it can take from orders or logs."""
    learned, centers = clustered(table, seed)
    auto = games.learned_prior(table, seed=seed, kind=task.game.kind)
    k, told, noisy = table.n_arms, arm_priors(table), task.game.kind == "gaussian"

    def on_orders(orders: lob.LatentOrders, needs: str, tag: str) -> dict[str, Contender]:
        makers: dict[str, tuple[Make, bool]] = {
            "toparms": (lambda s: lob.TopArmsUCB(orders, s), True),
            "lobucb": (lambda s: lob.LobUCB(orders, s), True),
            "lobts": (lambda s: lob.LobTS(orders, s), True),
            "lobimed": (lambda s: lob.LobIMED(orders, s), needs == ORDERS),
            "lobids": (lambda s: lob.LobIDS(orders, s), needs == ORDERS),
        }
        return {f"{n}{tag}": Contender(needs, make, c) for n, (make, c) in makers.items()}

    nothing = {
        "ucb": Contender(NOTHING, lambda s: lob.UCB(k, s), True),
        "ts": Contender(NOTHING, lambda s: lob.TS(k, s), True),
    }
    true = {} if task.orders is None else on_orders(task.orders, ORDERS, "")
    logs = {
        "popular": Contender(LOGS, lambda s: lob.Popular(auto)),
        "ts, priors by arm": Contender(LOGS, lambda s: lob.TS(k, s, *told), True),
        "mts": Contender(LOGS, lambda s: lob.MTS(centers, s), True),
        "mixts": Contender(LOGS, lambda s: lob.MixTS(told_sigma(auto, s)), has_sigma=noisy),
        "lobbayes": Contender(LOGS, lambda s: lob.LobBayes(told_sigma(auto, s)), has_sigma=noisy),
    }
    return nothing | true | on_orders(learned, LOGS, ", learned orders") | logs


def settings(movielens: str, insteval: str) -> Iterator[Setting]:
    """Yield held-out real users, and users whose orders are true."""
    rated, liked = (games.movielens(movielens, likes, least=100) for likes in (False, True))
    taught = games.answers(insteval, "student", "department", "rating", LEAST_DEPARTMENTS)

    def real(means: FloatArray, kind: str, sigma: float) -> Callable[[int], Task]:
        def task(seed: int) -> Task:
            halves = split(means, LEARNERS, PLAYERS, seed)
            return Task(Game(*halves, REWARDS, seed, kind, sigma), sigma)

        return task

    def true(sigma: float) -> Callable[[int], Task]:
        def task(seed: int) -> Task:
            rng = np.random.default_rng([seed, 5])
            rankings = np.array([rng.permutation(15) for _ in range(15)])
            past, _ = true_users(LEARNERS, rankings, "uniform gaps", rng)
            players, _ = true_users(PLAYERS, rankings, "uniform gaps", rng)
            orders = lob.LatentOrders.from_rankings(rankings.tolist())
            return Task(Game(past, players, REWARDS, seed, "gaussian", sigma), sigma, orders)

        return task

    yield Setting("MovieLens ratings, sigma 1", real(rated, "gaussian", 1.0))
    yield Setting("InstEval ratings, sigma 1", real(taught, "gaussian", 1.0))
    yield Setting("true orders, sigma 1", true(1.0))
    yield Setting("true orders, sigma 5", true(5.0))
    short = (100, 500)
    yield Setting("wrong sigma, ratings", real(rated, "gaussian", 1.0), short)
    yield Setting("wrong sigma, clicks", real(liked, "bernoulli", 0.5), short)
    middle = float(rated.mean() ** 0.5)
    yield Setting("wrong sigma, counts", real(rated, "poisson", middle), short)


def variants(
    each: Mapping[str, Contender], wrong: bool
) -> Iterator[tuple[str, str, Contender, float]]:
    """Yield label, need, contender and factor of sigma."""
    judged = ("ts", "lobts, learned orders", "lobids, learned orders", "lobbayes")
    for name, contender in each.items():
        factors = WRONG if wrong else (1.0, *FACTORS) if contender.has_c else (1.0,)
        if not contender.has_sigma:
            factors = (1.0,)
        if wrong and name not in judged:
            continue
        for factor in factors:
            label = name if factor == 1 else f"{name}, c x {factor:g}"
            yield label, contender.needs, contender, factor


def measure(
    setting: Setting, seeds: tuple[int, ...], rounds: tuple[int, ...], only: list[str]
) -> dict[tuple[str, str], FloatArray]:
    """Return the regret of all users after these rounds, by what is needed and policy."""
    found: dict[tuple[str, str], list[FloatArray]] = {}
    for seed in seeds:
        task = setting.task(seed)
        every = contenders(games.table(task.game), task, seed)
        for label, needs, each, factor in variants(every, "wrong" in setting.name):
            if any(text in label for text in only):
                policy = each.make(factor * task.sigma)
                regret = games.play(policy, task.game, rounds[-1]).regret.cumsum(axis=1)
                found.setdefault((needs, label), []).append(regret[:, np.array(rounds) - 1])
    return {key: np.concatenate(parts) for key, parts in found.items()}


def report(
    setting: Setting, rounds: tuple[int, ...], found: Mapping[tuple[str, str], FloatArray]
) -> None:
    """Print mean regret and its standard error over users, by policy and T."""
    print(f"\n### {setting.name}\n")
    print("| needs | policy | " + " | ".join(f"T = {t}" for t in rounds) + " |")
    print("|" + "---|" * (len(rounds) + 2))
    for (needs, label), totals in found.items():
        mean = totals.mean(axis=0)
        error = totals.std(axis=0, ddof=1) / np.sqrt(len(totals))
        row = " | ".join(f"{m:.3g} ± {e:.2g}" for m, e in zip(mean, error, strict=True))
        print(f"| {needs} | {label} | {row} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("movielens", help="an edition of MovieLens")
    parser.add_argument("insteval", help="ratings.csv of InstEval: student, department, rating")
    parser.add_argument("--quick", action="store_true", help="one seed, T up to 100")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--policies", default="", help="only those whose label has one of these")
    parser.add_argument("--json", metavar="FILE", help="write the regret of every user")
    options = parser.parse_args()
    print(machine())
    kept: dict[str, Any] = {}
    for setting in settings(options.movielens, options.insteval):
        if options.only not in setting.name:
            continue
        rounds = tuple(t for t in setting.rounds if t <= 100 or not options.quick)
        seeds = SEEDS[:1] if options.quick else SEEDS
        found = measure(setting, seeds, rounds, options.policies.split(","))
        report(setting, rounds, found)
        kept[setting.name] = {
            f"{needs}: {label}": totals.round(3).tolist()
            for (needs, label), totals in found.items()
        }
    if options.json:
        with open(options.json, "w") as file:  # noqa: PTH123
            json.dump(kept, file, indent=1)


if __name__ == "__main__":
    main()
