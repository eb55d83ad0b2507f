"""What features of users are worth: regret with over without, and against who is told them.

Past people teach, others play; the same logs and players with features and without. Real answers
(bfi, verbagg), generated worlds of which features explain a share, features that are useless, new
arms, contexts, and what all this costs. Run with ``python benchmarks/features.py DATA`` (a folder
with bfi and verbagg; ``--only TEXT``: the parts whose name has it; ``--seeds 3``).
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from timing import machine

import lobandits as lob
from lobandits.basics.checks import FloatArray
from lobandits.beliefs.feature_effects import FeatureEffects
from lobandits.beliefs.features import Features
from lobandits.learning.arm_effects import read_arm_features
from lobandits.learning.em import Map, careful, climb, expect_all
from lobandits.learning.fit_prior import fit_prior, starting_likelihood
from lobandits.learning.starts import Data, population, prior_of
from lobandits.learning.user_features import UserFeatures

TIMES = (1, 5, 25)
RESAMPLES = 400
SEED = 8100  # for reporting only; nothing was chosen on these
Draw = Callable[[FloatArray, np.random.Generator], FloatArray]


class Users(NamedTuple):
    """Mean rewards of people, (n, k), and what is known of them."""

    means: FloatArray
    table: dict[str, list[Any]]

    def take(self, some: Any) -> "Users":
        """Return some of them."""
        index = np.arange(len(self.means))[some]
        return Users(self.means[index], {n: [c[i] for i in index] for n, c in self.table.items()})


def ratings(means: FloatArray, rng: np.random.Generator) -> FloatArray:
    return means + rng.standard_normal(means.shape)


def clicks(means: FloatArray, rng: np.random.Generator) -> FloatArray:
    return (rng.random(means.shape) < means).astype(np.float64)


def past_logs(
    means: FloatArray, plays: int, draw: Draw, rng: np.random.Generator
) -> lob.RewardTable:
    """Return what random arms brought these users, each arm once where there are enough."""
    n, k = means.shape
    arms = rng.integers(k, size=(n, plays))
    if plays <= k:
        arms = rng.permuted(np.tile(np.arange(k), (n, 1)), axis=1)[:, :plays]
    rewards = draw(np.take_along_axis(means, arms, 1), rng)
    cells = np.zeros((3, n, k))
    for total, part in zip(cells, (np.ones(arms.shape), rewards, rewards**2), strict=True):
        np.add.at(total, (np.arange(n)[:, None], arms), part)
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), *cells)


def play(
    policy: lob.Policy,
    users: Users,
    draw: Draw,
    seed: int,
    features: bool,
    times: tuple[int, ...] = TIMES,
) -> FloatArray:
    """Return the cumulative regret of every user at these times, (n, len(times))."""
    n, rng = len(users.means), np.random.default_rng(seed)
    state = policy.start(n, features=users.table if features else None)
    everyone, regret = np.arange(n), np.zeros((n, times[-1]))
    for t in range(times[-1]):
        noise = draw(users.means, rng)
        arms = policy.choose(state, rng)
        policy.record(state, arms, noise[everyone, arms])
        regret[:, t] = users.means.max(axis=1) - users.means[everyone, arms]
    return regret.cumsum(axis=1)[:, [t - 1 for t in times]]


def known_of(users: Users) -> UserFeatures:
    features = Features.of(users.table)
    return UserFeatures(features, features.encode(users.table))


def ratio(one: FloatArray, other: FloatArray) -> str:
    """Return one over other at every time, with 95 % intervals over players."""
    rng, n = np.random.default_rng(0), len(one)
    some = rng.integers(n, size=(RESAMPLES, n))
    parts = []
    for a, b in zip(one.T, other.T, strict=True):
        drawn = a[some].mean(axis=1) / b[some].mean(axis=1)
        low, high = np.percentile(drawn, [2.5, 97.5])
        parts.append(f"{a.mean() / b.mean():.3f} ({low:.3f}-{high:.3f})")
    return "  ".join(parts)


def compare(
    name: str, split: Callable[[int], tuple[Users, Users]], plays: int, draw: Draw, seeds: range
) -> None:
    """Print regret with features over without, and what evidence says they are worth."""
    with_them, without, gains, seconds = [], [], [], np.zeros(2)
    for seed in seeds:
        rng = np.random.default_rng([SEED, seed])
        past, players = split(seed)
        table = past_logs(past.means, plays, draw, rng)
        start = time.perf_counter()
        blind = fit_prior(table, n_states=1, workers=1).prior
        middle = time.perf_counter()
        seeing = fit_prior(table, n_states=1, features=known_of(past), workers=1).prior
        seconds += middle - start, time.perf_counter() - middle
        assert seeing.features is not None
        gains.append(seeing.features.gain if seeing.features.tell else 0.0)
        without.append(play(lob.LobBayes(blind), players, draw, seed, False))
        with_them.append(play(lob.LobBayes(seeing), players, draw, seed, True))
    both = np.concatenate(with_them), np.concatenate(without)
    shown = ", ".join(f"{gain:+.3f}" for gain in gains)
    print(f"{name:34} {ratio(*both)}  nats {shown}  learned in {seconds[1] / seconds[0]:.1f} x")


# Real people -------------------------------------------------------------------------------------


def people(folder: Path, name: str) -> Users:
    """Return people who answered everything, and what is known of them."""
    answers, persons = pl.read_csv(folder / name / "answers.csv"), pl.read_csv(
        folder / name / "persons.csv"
    )  # fmt: skip
    item, value = ("statement", "agreement") if name == "bfi" else ("situation", "reward")
    wide = answers.pivot(on=item, index="person", values=value).drop_nulls().sort("person")
    both = wide.join(persons, on="person", how="left").sort("person")
    columns = sorted(column for column in wide.columns if column != "person")
    table = {c: both[c].to_list() for c in persons.columns if c != "person"}
    return Users(both.select(columns).to_numpy().astype(np.float64), table)


def random_split(
    users: Users, past: int, players: int = 400
) -> Callable[[int], tuple[Users, Users]]:
    def split(seed: int) -> tuple[Users, Users]:
        order = np.random.default_rng([SEED, seed, 1]).permutation(len(users.means))
        return users.take(order[:past]), users.take(order[past : past + players])

    return split


def real(folder: Path, seeds: range) -> None:
    bfi = people(folder, "bfi")
    for past in (100, 500, 1500):
        compare(f"bfi, {past} past people", random_split(bfi, past), 20, ratings, seeds)
    verbagg = people(folder, "verbagg")
    compare("verbagg, 200 past people", random_split(verbagg, 200, 116), 20, clicks, seeds)


# Generated people --------------------------------------------------------------------------------


class World(NamedTuple):
    """Users, what moves their tastes, (k, p), and x."""

    users: Users
    columns: FloatArray
    x: FloatArray


def world(n: int, k: int, p: int, share: float, seed: int, binary: bool) -> World:
    """Features explain a share of what users differ by: half by loadings, half in single arms."""
    rng = np.random.default_rng([SEED, seed, 2])
    loadings, own, size = rng.normal(0, 0.6, (k, 2)), 0.15, share / (1 - share) / p
    loadings[:, 0] = 0.5
    columns = loadings @ rng.normal(0, np.sqrt(size), (2, p))
    columns += rng.normal(0, np.sqrt(own * size), (k, p))
    x, base = rng.standard_normal((n, p)), rng.normal(-1.5 if binary else 0, 0.4, k)
    eta = base + x @ columns.T + rng.standard_normal((n, 2)) @ loadings.T
    eta += np.sqrt(own) * rng.standard_normal((n, k))
    means = 1 / (1 + np.exp(-eta)) if binary else eta
    return World(Users(means, {f"f{j}": x[:, j].tolist() for j in range(p)}), columns, x)


def told(table: lob.RewardTable, w: World, past: int, run: Map = map) -> lob.Prior:
    """Return what is learned by who is told W and B."""
    likelihood, _ = starting_likelihood(table, None)
    lifts = w.x[:past] @ w.columns.T
    data = Data(table.counts, table.sums, None, lifts)
    everybody = population(data, likelihood)
    blocks = data.blocks
    p, _, _ = climb(blocks, everybody.one, everybody.pull, 4, None, run)
    p = careful(p, expect_all(blocks, p, run))
    features = Features.of(w.users.table)
    scale = np.array([one.scale[0] for one in features.all])
    shift = w.columns @ np.array([one.centre[0] for one in features.all])
    p = p._replace(means=p.means + shift)  # x is centred
    effects = FeatureEffects(
        features, np.zeros((p.loadings.shape[1], len(scale))), w.columns * scale
    )
    return prior_of(p, table.arms)._with(features=effects)


def generated(seeds: range, past: int = 300, players: int = 1500) -> None:
    for binary, draw in ((False, ratings), (True, clicks)):
        for share in (0.05, 0.2, 0.4):
            mine, knows, blind = [], [], []
            for seed in seeds:
                w = world(past + players, 12, 5, share, seed, binary)
                first, rest = w.users.take(slice(past)), w.users.take(slice(past, None))
                table = past_logs(first.means, 20, draw, np.random.default_rng([SEED, seed, 3]))
                seeing = fit_prior(table, n_states=1, features=known_of(first), workers=1).prior
                alone = fit_prior(table, n_states=1, workers=1).prior
                mine.append(play(lob.LobBayes(seeing), rest, draw, seed, True))
                knows.append(play(lob.LobBayes(told(table, w, past)), rest, draw, seed, True))
                blind.append(play(lob.LobBayes(alone), rest, draw, seed, False))
            kind = "clicks" if binary else "ratings"
            three = [np.concatenate(part) for part in (mine, knows, blind)]
            print(f"{kind}, {share:.0%}, over without       {ratio(three[0], three[2])}")
            print(f"{kind}, {share:.0%}, over who is told   {ratio(three[0], three[1])}")


def useless(seeds: range) -> None:
    for binary, draw in ((False, ratings), (True, clicks)):
        for past in (100, 1000):

            def split(seed: int, past: int = past, binary: bool = binary) -> tuple[Users, Users]:
                users = world(past + 500, 12, 30, 0.0, seed, binary).users
                return users.take(slice(past)), users.take(slice(past, None))

            kind = "clicks" if binary else "ratings"
            compare(f"{kind}, 30 useless, {past} past users", split, 20, draw, seeds)


# New arms, and contexts --------------------------------------------------------------------------


def new_arms(folder: Path, seeds: range) -> None:
    """Leave out every statement of bfi in turn; its trait, the letter, is known."""
    bfi, draw = people(folder, "bfi"), ratings
    names = list(pl.read_csv(folder / "bfi" / "answers.csv")["statement"].unique().sort())
    traits = {str(a): {"trait": name[0]} for a, name in enumerate(names)}
    regret: dict[str, list[FloatArray]] = {}
    for seed in seeds:
        past, players = random_split(bfi, 300, 100)(seed)
        table = past_logs(past.means, 20, draw, np.random.default_rng([SEED, seed, 5]))
        told = fit_prior(table, n_states=1, workers=1).prior
        for a in range(table.n_arms):
            others = np.delete(np.arange(table.n_arms), a)
            order = np.append(others, a)
            rest = table.of_arms(others)
            known = read_arm_features(rest.arms, {n: traits[n] for n in rest.arms})
            prior = fit_prior(rest, n_states=1, arm_features=known, workers=1).prior
            same = [n for n in rest.arms if traits[n] == traits[str(a)]]
            epsilon = prior._with(arm_features=None).with_arm(str(a))
            wide = epsilon.means.copy()
            wide[:, -1] = prior.means.mean(axis=1)
            ways = {
                "features": prior.with_arm(str(a), features=traits[str(a)]),
                "like one of its trait": prior.with_arm(str(a), like=same[0]),
                "epsilon": epsilon,
                "wide": epsilon._with(means=wide),
                "told": told._with(
                    arms=tuple(told.arms[b] for b in order), means=told.means[:, order],
                    loadings=told.loadings[order], own=told.own[order],
                ),
            }  # fmt: skip
            here = Users(players.means[:, order], players.table)
            for way, grown in ways.items():
                earned = play(lob.LobBayes(grown), here, draw, seed, False, (20,))
                regret.setdefault(way, []).append(earned)
    wide_regret = np.concatenate(regret["wide"])
    for way, parts in regret.items():
        print(f"a new statement of bfi, {way:22} over wide, T = 20: "
              f"{ratio(np.concatenate(parts), wide_regret)}")  # fmt: skip


def contexts(seeds: range) -> None:
    """20 segments of 15 products, a median of 10 impressions at 5 %: new users' first choices."""
    rounds = 10
    for differ in (0.0, 0.3, 0.6):
        earned: dict[str, list[FloatArray]] = {}
        seconds = []
        for seed in seeds:
            rng = np.random.default_rng([SEED, seed, 6])
            eta = -3.2 + rng.normal(0, 0.5, 15) + rng.normal(0, 0.3, (20, 1))
            eta = eta + differ * rng.normal(size=(20, 15))
            segment = rng.integers(20, size=6000)
            own = rng.normal(0, 0.4, (6000, 1)) + rng.normal(0, 0.3, (6000, 15))
            rates = 1 / (1 + np.exp(-(eta[segment] + own)))
            plays = rng.geometric(0.065, 4000)
            user = np.repeat(np.arange(4000), plays)
            product = rng.integers(15, size=len(user))
            clicked = (rng.random(len(user)) < rates[user, product]).astype(int)
            rows = pl.DataFrame({
                "user": user, "segment": [f"s{s}" for s in segment[user]],
                "arm": [f"p{p:02}" for p in product], "reward": clicked,
            })  # fmt: skip
            start = time.perf_counter()
            inside = lob.learn(rows, context="segment", n_states=1, workers=1)
            seconds.append(time.perf_counter() - start)
            outside = lob.learn(rows, features=["segment"], n_states=1, workers=1)
            alone = fit_prior(lob.reward_table(rows, context="segment"), n_states=1).prior
            raw = rows.group_by("segment", "arm").agg(pl.col("reward").mean()).sort("reward")
            best = {row["segment"]: row["arm"] for row in raw.iter_rows(named=True)}
            new = np.arange(4000, 6000)
            names = [f"s{s}" for s in segment[new]]
            truth = rates[new]
            allowed = np.array([[arm.startswith(f"{n}: ") for arm in inside.arms] for n in names])
            to_product = np.array([int(arm.split(": p")[1]) for arm in inside.arms])
            table = {"segment": names}
            ways = {
                "contexts": (lob.LobBayes(inside), allowed, None, to_product),
                "contexts that do not borrow": (lob.LobBayes(alone), allowed, None, to_product),
                "segments as features": (lob.LobBayes(outside), None, table, np.arange(15)),
            }
            for way, (policy, sets, features, places) in ways.items():
                state, draws = policy.start(2000, features=features), np.random.default_rng(seed)
                total = np.zeros(2000)
                for _ in range(rounds):
                    arms = policy.choose(state, draws, allowed=sets)
                    mean = truth[np.arange(2000), places[arms]]
                    policy.record(state, arms, (draws.random(2000) < mean).astype(float))
                    total += mean
                earned.setdefault(way, []).append(total[:, None] / rounds)
            fixed = truth[np.arange(2000), [int(best[n][1:]) for n in names]]
            earned.setdefault("each segment's best by raw means", []).append(fixed[:, None])
        raw_earned = np.concatenate(earned["each segment's best by raw means"])
        print(f"segments differ by {differ}: learned in {np.mean(seconds):.1f} s")
        for way, parts in earned.items():
            both = np.concatenate(parts)
            print(f"  {way:34} {100 * both.mean():.2f} %, over raw means {ratio(both, raw_earned)}")


def cost(seeds: range) -> None:
    """Print what a decision costs with 30 columns, and learning from 4,000 users."""
    w = world(4000, 15, 30, 0.2, 0, True)
    table = past_logs(w.users.means, 20, clicks, np.random.default_rng(0))
    rest = w.users.take(slice(200))
    times = {}
    for name, known in (("without", None), ("with", known_of(w.users))):
        start = time.perf_counter()
        prior = fit_prior(table, n_states=1, features=known, workers=1).prior
        seconds, policy = time.perf_counter() - start, lob.LobBayes(prior)
        state, one = policy.start(200, features=rest.table if known else None), []
        policy.record(state, np.arange(200) % 15, np.ones(200))
        single = state.take([0])
        policy.choose(single, 0)
        for _ in range(len(seeds) * 300):
            start = time.perf_counter()
            policy.choose(single, 0)
            one.append(time.perf_counter() - start)
        times[name] = seconds, float(np.median(one))
    (a, b), (c, d) = times["without"], times["with"]
    print(
        f"learning from 4,000 users, 30 columns: {a:.1f} s without, {c:.1f} s with, {c / a:.2f} x"
    )
    print(f"a decision: {1e6 * b:.0f} us without, {1e6 * d:.0f} us with, {d / b:.2f} x")


def parts(folder: Path, seeds: range) -> Iterator[tuple[str, Callable[[], None]]]:
    yield "real", lambda: real(folder, seeds)
    yield "generated", lambda: generated(seeds)
    yield "useless", lambda: useless(seeds)
    yield "new arms", lambda: new_arms(folder, seeds)
    yield "contexts", lambda: contexts(seeds)
    yield "cost", lambda: cost(seeds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    print(machine())
    print(f"regret with features over without, at T = {', '.join(map(str, TIMES))}")
    for name, part in parts(given.data, range(given.seeds)):
        if given.only in name:
            print(f"\n{name}")
            part()


if __name__ == "__main__":
    main()
