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

import numpy as np
from held_out import FILTERS, LEARNERS, REWARDS, as_clicks, clustered, split
from timing import machine
from true_orders import users as true_users

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.learning.fit_prior import fit_prior

SEEDS = (20, 21, 22)  # for reporting only; nothing was chosen on them
ROUNDS = (10, 30, 100, 500, 4000)
STATES, PLAYERS, LEAST_RATINGS = 20, 60, 40
FACTORS = (0.5, 2.0)  # of c, beside 1
WRONG = (0.25, 0.5, 1.0, 2.0, 4.0)  # of sigma
NOTHING, ORDERS, LOGS = "nothing", "orders", "logs"
Draw = Callable[[FloatArray, np.random.Generator], FloatArray]
Make = Callable[[float], lob.Policy]


class Task(NamedTuple):
    """Users who teach and users who play; how rewards are drawn; true orders, if there are any."""

    learners: FloatArray
    players: FloatArray
    draw: Draw
    sigma: float
    orders: lob.LatentOrders | None = None
    likelihood: str = "gaussian"


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


def gaussian(sigma: float) -> Draw:
    return lambda means, rng: means + sigma * rng.standard_normal(means.shape)


def clicks(means: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (rng.random(means.shape) < means).astype(np.float64)


def counts(means: FloatArray, rng: np.random.Generator) -> FloatArray:
    return rng.poisson(means).astype(np.float64)


def past_logs(task: Task, rng: np.random.Generator) -> lob.RewardTable:
    """Return what the learners' random arms brought."""
    n, k = task.learners.shape
    arms = rng.integers(k, size=(n, REWARDS))
    values = task.draw(np.take_along_axis(task.learners, arms, 1), rng)
    plays, sums, squares = np.zeros((n, k), np.int64), np.zeros((n, k)), np.zeros((n, k))
    users = np.broadcast_to(np.arange(n)[:, None], arms.shape)
    np.add.at(plays, (users, arms), 1)
    np.add.at(sums, (users, arms), values)
    np.add.at(squares, (users, arms), values**2)
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), plays, sums, squares)


def arm_priors(table: lob.RewardTable) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation over users of each arm's mean, noise taken off."""
    known = table.counts > 0
    means = np.divide(table.sums, table.counts, out=np.full(known.shape, np.nan), where=known)
    noise = np.nanmean(
        np.where(table.counts > 1, table.squares / np.maximum(table.counts, 1) - means**2, np.nan)
    )
    within = noise * np.nanmean(np.where(known, 1 / np.maximum(table.counts, 1), np.nan), axis=0)
    spread = np.maximum(np.nanvar(means, axis=0) - within, 0.05 * np.nanvar(means, axis=0))
    return np.nanmean(means, axis=0), np.sqrt(spread)


def told_sigma(prior: lob.Prior, sigma: float) -> lob.Prior:
    """Return a prior of Gaussian rewards with this sigma; other rewards have no sigma to tell."""
    if not isinstance(prior.likelihood, lob.Gaussian):
        return prior
    return prior.with_likelihood(lob.Gaussian(sigma))


def contenders(table: lob.RewardTable, task: Task, seed: int) -> dict[str, Contender]:
    """Return every policy, each with what it can take from orders or logs."""
    learned, centers = clustered(table, STATES, seed)
    auto = fit_prior(table, task.likelihood, seed=seed).prior
    k, told, noisy = table.n_arms, arm_priors(table), task.likelihood == "gaussian"

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


def play(policy: lob.Policy, task: Task, rounds: tuple[int, ...], seed: int) -> FloatArray:
    """Return the cumulative regret of each user after these rounds, (n, len(rounds))."""
    rng, noise = np.random.default_rng([seed, 1]), np.random.default_rng([seed, 2])
    n = len(task.players)
    users, best, state = np.arange(n), task.players.max(axis=1), policy.start(n)
    total, kept = np.zeros(n), []
    for t in range(1, rounds[-1] + 1):
        arms = policy.choose(state, rng)
        means = task.players[users, arms]
        policy.record(state, arms, task.draw(means, noise))
        total += best - means
        if t in rounds:
            kept.append(total.copy())
    return np.stack(kept, axis=1)


def settings(movielens: str, insteval: str) -> Iterator[Setting]:
    """Yield held-out real users, and users whose orders are true."""
    ratings, clicked = lob.load_movielens(movielens), lob.load_movielens(as_clicks(movielens))
    students = lob.reward_table(insteval, "student", "department", "rating")
    many = students.filter(min_user_rewards=LEAST_RATINGS)

    def means(source: Any, seed: int) -> FloatArray:
        return lob.MovieLens(source, n_states=STATES, seed=seed, progress=False, **FILTERS).means0

    def task_of(
        source: Any, seed: int, draw: Draw, sigma: float, likelihood: str = "gaussian"
    ) -> Task:
        learners, players = split(means(source, seed), seed)
        return Task(learners, players[:PLAYERS], draw, sigma, likelihood=likelihood)

    def rated(seed: int) -> Task:
        return task_of(ratings, seed, gaussian(1.0), 1.0)

    def taught(seed: int) -> Task:
        return task_of(many, seed, gaussian(1.0), 1.0)

    def true(sigma: float) -> Callable[[int], Task]:
        def task(seed: int) -> Task:
            rng = np.random.default_rng([seed, 5])
            rankings = np.array([rng.permutation(15) for _ in range(15)])
            past, _ = true_users(LEARNERS, rankings, "uniform gaps", rng)
            players, _ = true_users(PLAYERS, rankings, "uniform gaps", rng)
            orders = lob.LatentOrders.from_rankings(rankings.tolist())
            return Task(past, players, gaussian(sigma), sigma, orders)

        return task

    yield Setting("MovieLens ratings, sigma 1", rated)
    yield Setting("InstEval ratings, sigma 1", taught)
    yield Setting("true orders, sigma 1", true(1.0))
    yield Setting("true orders, sigma 5", true(5.0))
    short = (100, 500)
    yield Setting("wrong sigma, ratings", rated, short)
    yield Setting(
        "wrong sigma, clicks", lambda s: task_of(clicked, s, clicks, 0.5, "bernoulli"), short
    )
    middle = float(means(ratings, 0).mean() ** 0.5)
    yield Setting(
        "wrong sigma, counts", lambda s: task_of(ratings, s, counts, middle, "poisson"), short
    )


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
        table = past_logs(task, np.random.default_rng([seed, 3]))
        every = contenders(table, task, seed)
        for label, needs, each, factor in variants(every, "wrong" in setting.name):
            if any(text in label for text in only):
                policy = each.make(factor * task.sigma)
                found.setdefault((needs, label), []).append(play(policy, task, rounds, seed))
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
