"""LobIMED and LobIDS against lobTS, mTS and the lower bound: regret, tails and cost.

Run with ``python benchmarks/beyond.py``; ``--quick`` does a small part, ``--only sigma=5`` the
settings whose name has that text (``--only costs``: the cost alone), ``--cross`` all combinations
of the settings, and ``--movielens FOLDER`` the real-data task instead.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.special import ndtri
from timing import machine

import lobandits as lob
from lobandits.basics.checks import BoolArray, FloatArray
from lobandits.simulation.problems import Environment

K = 15
POLICIES = ("mts", "lobts", "lobimed", "lobids")
SHORT, LONG, LAST = 500, 5000, 1000
SEED = 2024  # for reporting; details were chosen on other seeds
SHAPES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "linear": lambda x: x,
    "exponential": lambda x: np.expm1(3 * x) / np.expm1(3.0),
    "normal": lambda x: 0.5 + 0.5 * ndtri((x * (K - 1) + 0.5) / K) / ndtri(1 - 0.5 / K),
    "convex": lambda x: x**2,
    "concave": lambda x: 1 - (1 - x) ** 2,
}
"""The mean of an arm by its rank x, from 0 for the worst to 1 for the best."""


@dataclass(frozen=True)
class Users:
    """Users of `Synthetic`, with means of another shape between the same ends.

    With ``scales``, each user has a scale from 0.5 to 2 and a shift from -5 to 5 as well, which
    neither the orders nor the states' means tell.
    """

    synthetic: lob.Synthetic
    shape: str = "linear"
    scales: bool = False

    def sample(self, n: int, seed: int, first: int = 0) -> lob.Problems:
        """Return users as `Synthetic.sample` does."""
        problems = self.synthetic.sample(n, seed, first)
        assert problems.state_means is not None
        means = self._bent(problems.means)
        if self.scales:
            draws = np.random.default_rng((seed, K)).random((first + n, 2))[first:]
            means = (0.5 + 1.5 * draws[:, :1]) * means + 10 * draws[:, 1:] - 5
        return replace(problems, means=means, state_means=self._bent(problems.state_means))

    def _bent(self, means: FloatArray) -> FloatArray:
        return (K - 1) * SHAPES[self.shape](means / (K - 1))


def settings(cross: bool) -> Iterator[tuple[str, Users]]:
    """All of them, or one change at a time from 15 total orders of linear means."""
    for sigma, m, q, scales, shape in product(
        (1.0, 5.0), (4, 15, 40, 100), (1.0, 0.8, 0.6), (False, True), SHAPES
    ):
        changes = [f"m={m}"] * (m != 15) + [f"q={q:g}"] * (q != 1) + ["scales"] * scales
        changes += [shape] * (shape != "linear")
        if cross or len(changes) < 2:
            synthetic = lob.Synthetic(n_arms=K, n_states=m, sigma=sigma, q=q)
            name = f"sigma={sigma:g} {' '.join(changes) or 'm=15'}"
            yield name, Users(synthetic, shape, scales)


def cells(totals: FloatArray) -> str:
    """Mean with its standard error, 95th percentile, maximum."""
    error = totals.std(ddof=1) / np.sqrt(len(totals))
    worst = np.quantile(totals, 0.95), totals.max()
    return f"{totals.mean():.1f} ± {error:.1f}, {worst[0]:.0f}, {worst[1]:.0f}"


def row(name: str, env: Environment, n_users: int) -> None:
    """Simulate one setting and print its rows as Markdown."""
    problems = env.sample(n_users, SEED)
    unit = np.ptp(problems.means, axis=1) / (K - 1) if isinstance(env, Users) else np.ones(n_users)
    constant = bound(problems, unit)
    result = lob.simulate(env, POLICIES, LONG, n_users, seed=SEED, progress=False)
    for horizon in (SHORT, LONG):
        totals = (cells(result.regret[p][:, :horizon].sum(axis=1) / unit) for p in POLICIES)
        limit = f"{constant * np.log(horizon):.1f}" if constant else "none"
        print(f"| {name} | {horizon} | {limit} | {' | '.join(totals)} | ", end="")
        print(f"{stuck(env, result) if horizon == LONG else ''} |", flush=True)


def bound(problems: lob.Problems, unit: FloatArray) -> float | None:
    """Return the mean constant of the first users' lower bounds; None where no order holds."""
    constants = []
    try:
        for user, means in enumerate(problems.means[:50]):
            orders = problems.orders
            known = orders[user] if isinstance(orders, lob.UserOrders) else orders
            constants.append(lob.regret_lower_bound(means, known, problems.sigma).constant)
        return float(np.mean(constants / unit[:50]))
    except lob.LobInputError:
        return None


def stuck(env: Environment, result: lob.Result) -> str:
    """Count users who are wrong at T: with lobTS, and only with the other two; and of these at 4 T.

    Regret that grows linearly still does at 4 T.
    """
    wrong = wrong_at_end(env, result)
    if not any(users.any() for users in wrong.values()):
        return "0, 0, 0"
    later = lob.simulate(env, POLICIES[1:], 4 * LONG, result.n_users, seed=SEED, progress=False)
    still = {p: wrong[p] & users for p, users in wrong_at_end(env, later).items()}
    return f"{counts(wrong)}; at 4 T {counts(still)}"


def wrong_at_end(env: Environment, result: lob.Result) -> dict[str, BoolArray]:
    """Return who, in most of the last rounds, plays an arm that is clearly worse than the best.

    Worse by more than sigma sqrt(8 log T / T), which T rounds can tell from 0.
    """
    gap = env.sample(1, SEED).sigma * np.sqrt(8 * np.log(LONG) / LONG)
    return {p: (result.regret[p][:, -LAST:] > gap).mean(axis=1) > 0.5 for p in POLICIES[1:]}


def counts(wrong: Mapping[str, BoolArray]) -> str:
    lobts = wrong["lobts"]
    some = lobts, wrong["lobimed"] & ~lobts, wrong["lobids"] & ~lobts
    return ", ".join(str(int(users.sum())) for users in some)


def header() -> None:
    print("\nEach cell: mean cumulative regret ± standard error, 95th percentile, maximum.\n")
    wrong = "wrong at the end: lobts, only lobimed, only lobids"
    print(f"| setting | T | c log T | {' | '.join(POLICIES)} | {wrong} |")
    print(f"|{'---|' * (4 + len(POLICIES))}")


def movielens(path: str, n_users: int, options: dict[str, int]) -> None:
    """The real-data task: Setting A, where the orders hold, and Setting B, the raw means."""
    ratings = lob.load_movielens(path)
    header()
    env = lob.MovieLens(ratings, progress=False, **options)
    for hold_out, who in ((0.0, ""), (0.5, ", held out")):
        users = env.replace(hold_out=hold_out)
        for alpha, setting in ((0.0, "A"), (1.0, "B")):
            n = min(n_users, users.n_users)
            row(f"Setting {setting}{who}", users.replace(alpha=alpha), n)


def costs(n_users: int) -> None:
    """CPU time of choose and record, in batches, against lobTS."""
    print("\n| job | lobts, us | lobimed / lobts (bar 1.2) | lobids / lobts (bar 10) |")
    print("|---|---|---|---|")
    for m, sigma, q in ((15, 1.0, 1.0), (15, 5.0, 1.0), (100, 1.0, 1.0), (15, 1.0, 0.8)):
        spent = {name: min(cost(name, m, sigma, q, n_users, s) for s in range(3)) for name in
                 ("lobts", "lobimed", "lobids")}  # fmt: skip
        ratios = (f"{spent[name] / spent['lobts']:.2f}" for name in ("lobimed", "lobids"))
        print(f"| m={m} sigma={sigma:g} q={q:g} | {spent['lobts']:.2f} | {' | '.join(ratios)} |")


def cost(name: str, m: int, sigma: float, q: float, n_users: int, seed: int) -> float:
    """Return the microseconds of one decision in a game of many users who share their orders."""
    rng = np.random.default_rng(seed)
    means = np.array([rng.permutation(K) for _ in range(m)], dtype=float)
    orders = lob.LatentOrders.from_means(means)
    policy = lob.POLICIES[name](orders.reveal(q, 0) if q < 1 else orders, sigma)  # type: ignore[call-arg, arg-type]
    for users, rounds in ((8, 5), (n_users, SHORT)):  # the first to compile
        state = policy.start(users)
        noise = sigma * rng.normal(size=(rounds, users))
        began = time.process_time()
        for shocks in noise:
            arms = policy.choose(state, rng)
            policy.record(state, arms, means[0, arms] + shocks)
    return (time.process_time() - began) / (rounds * users) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small part")
    parser.add_argument("--users", type=int, default=200, help="users in each setting")
    parser.add_argument("--only", default="", help="only settings whose name has this text")
    parser.add_argument("--cross", action="store_true", help="all settings, not one change each")
    parser.add_argument("--movielens", metavar="FOLDER", help="the real ratings, instead")
    for name, default in (("states", 60), ("min-movie-ratings", 200), ("min-user-ratings", 200)):
        parser.add_argument(f"--{name}", type=int, default=default, help="for --movielens")
    options = parser.parse_args()
    n_users = 24 if options.quick else options.users
    print(machine())
    if options.movielens:
        limits = {
            "n_states": options.states,
            "min_movie_ratings": options.min_movie_ratings,
            "min_user_ratings": options.min_user_ratings,
        }
        movielens(options.movielens, n_users, limits)
        return
    if options.only in "costs":
        costs(100 if options.quick else 1000)
    header()
    for name, env in settings(options.cross):
        if options.only in name and (not options.quick or "m=15" in name):
            row(name, env, n_users)


if __name__ == "__main__":
    main()
