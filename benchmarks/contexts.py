"""Contexts: one policy that knows all contexts against the same policy alone in each of them.

k = 8 arms in each of 4 contexts, 10 states with independent orders per context, users' own scales
and shifts, T = 400 in all: alone, a policy has about T / 4 rounds in each context and regrets four
times. Then what a user who was seen in one context only loses in the others, what a decision costs,
and what contexts are worth on MovieLens, for users who taught nothing.
Run with ``python benchmarks/contexts.py``, and ``--movielens FOLDER`` for the last part.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from timing import show

import lobandits as lob
from lobandits.learning.fit_prior import fit_prior

K, M, CONTEXTS, HORIZON = 8, 10, 4, 400
POLICIES = ["ucb", "lobts", "lobbayes"]
REPEATS = 5


def task(n_contexts: int, seed: int) -> lob.Synthetic:
    """Return users with scales and shifts of their own, who share the states' orders."""
    return lob.Synthetic(
        n_arms=K, n_states=M, scale=(0.5, 2.0), shift=(-2.0, 2.0), n_contexts=n_contexts,
        arrivals="in turn", past_users=600, past_seed=seed,
    )  # fmt: skip


def specs(names: list[str], env: lob.Synthetic) -> dict[str, Any]:
    """Return policies by name; LobBayes has the prior of past users, of so many states."""
    assert env.past is not None
    made: dict[str, Any] = {name: name for name in names}
    if "lobbayes" in names:
        prior = fit_prior(env.past.table, lob.Gaussian(env.sigma), M).prior
        made["lobbayes"] = lob.LobBayes(prior)
    return made


def together_and_alone(n_users: int, seeds: range) -> None:
    """Regret at T with contexts, and alone in each context for T / 4 rounds, times four."""
    rows = []
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in POLICIES}
    for seed in seeds:
        many, one = task(CONTEXTS, seed), task(1, seed)
        with_contexts = lob.simulate(many, specs(POLICIES, many), HORIZON, n_users, seed=seed)
        rounds = HORIZON // CONTEXTS
        alone = lob.simulate(one, specs(POLICIES, one), rounds, n_users, seed=seed)
        for name in POLICIES:
            found[name][0].append(with_contexts.cumulative(name).mean[-1])
            found[name][1].append(CONTEXTS * alone.cumulative(name).mean[-1])
    for name, (together, apart) in found.items():
        ratio = np.mean(together) / np.mean(apart)
        rows.append([name, f"{np.mean(together):.1f}", f"{np.mean(apart):.1f}", f"{ratio:.2f}"])
    title = f"k = {K}, {CONTEXTS} contexts, m = {M}, T = {HORIZON}, {n_users} users, {seeds}"
    show(title, ["policy", "with contexts", "alone in each", "ratio, at most 0.5"], rows)


def seen_elsewhere(n_users: int, rounds: int = 30) -> None:
    """The share of best arms, of the first choice in a context after rounds in another only."""
    env = task(CONTEXTS, 0)
    problems = env.sample(n_users, seed=1)
    sets, rng = problems.choice_sets, np.random.default_rng(0)
    rows = []
    for name, spec in specs(["lobts", "lobbayes"], env).items():
        policy = lob.make_policy(spec, problems) if isinstance(spec, str) else spec
        state = policy.start(n_users)
        for _ in range(rounds):
            arms = policy.choose(state, rng, sets[0])
            rewards = problems.means[np.arange(n_users), arms] + rng.normal(size=n_users)
            policy.record(state, arms, rewards)
        arms = policy.choose(state, rng, sets[1])
        best = (problems.gaps[np.arange(n_users), arms] == 0).mean()
        rows.append([name, f"{best:.2f}", f"{1 / K:.2f}"])
    title = f"{rounds} rounds in one context, then the first choice in another, {n_users} users"
    show(title, ["policy", "share of best arms", "by chance"], rows)


def cost(n_users: int, rounds: int = HORIZON) -> None:
    """The time of a decision with contexts, and with as many arms in one context.

    Those have the same orders, chains side by side, or total ones. Runs take turns, and the best
    of each counts.
    """
    names, rows = ["lobts", "lobbayes"], []
    many = task(CONTEXTS, 0)
    users = many.sample(n_users, 0)
    same = lob.FixedProblems(users.means, users.known_orders, users.sigma)
    total = lob.Synthetic(
        K * CONTEXTS, M, scale=(0.5, 2.0), shift=(-2.0, 2.0), past_users=600, past_seed=0
    )
    known = specs(names, many)
    games: list[tuple[Any, dict[str, Any]]] = [
        (many, known),
        (same, known),
        (total, specs(names, total)),
    ]
    runs = [
        lob.simulate(env, policies, rounds, n_users, workers=1, progress=False)
        for _ in range(REPEATS)
        for env, policies in games
    ]
    for name in names:
        spent = [run.cpu_seconds[name] / (n_users * rounds) for run in runs]
        inside, *others = (min(spent[i :: len(games)]) for i in range(len(games)))
        each = [f"{1e6 * other:.2f}, {inside / other:.2f}" for other in others]
        rows.append([name, f"{1e6 * inside:.2f}", *each])
    arms = K * CONTEXTS
    show(
        f"CPU of a decision, {rounds} rounds, {n_users} users, us; ratio at most 1",
        ["policy", f"{CONTEXTS} contexts", f"{arms} arms, the same orders", f"{arms}, total"],
        rows,
    )


def films(folder: Path, seed: int) -> pl.DataFrame:
    """Return ratings with one genre of each film, drawn from its own, its era and the weekday."""
    movies = pl.read_csv(folder / "movies.csv").with_columns(
        year=pl.col("title").str.extract(r"\((\d{4})\)\s*$").cast(pl.Int32),
        genre=pl.col("genres").str.split("|"),
    )
    rng = np.random.default_rng(seed)
    movies = movies.with_columns(genre=pl.col("genre").map_elements(rng.choice, pl.String))
    year, day = pl.col("year"), pl.from_epoch("timestamp").dt.weekday()
    rows = pl.read_csv(folder / "ratings.csv").join(movies, "movieId").drop_nulls("year")
    return rows.with_columns(
        era=pl.when(year < 1990).then(pl.lit("to 1989")).when(year < 2000).then(pl.lit("1990s"))
        .otherwise(pl.lit("from 2000")),
        weekday=pl.when(day >= 6).then(pl.lit("weekend")).otherwise(pl.lit("workday")),
    )  # fmt: skip


def replay(
    held_out: pl.DataFrame, prior: lob.Prior, context: str, inside: bool, rounds: int, seed: int
) -> np.ndarray:
    """Return the regret of each user: contexts come at random, rewards are ratings of the user."""
    table = lob.reward_table(held_out, "userId", "genre", "rating", context=context)
    table, column = table.filter(), {name: a for a, name in enumerate(prior.arms)}
    places = [column[n if inside else n.split(": ")[1]] for n in table.arms]
    contexts = np.array([name.split(": ")[0] for name in table.arms])
    rated: dict[tuple[int, str], list[float]] = {}
    for row in held_out.iter_rows(named=True):
        key = row["userId"], f"{row[context]}: {row['genre']}"
        rated.setdefault(key, []).append(row["rating"])
    policy = lob.LobBayes(prior)
    rng, regret = np.random.default_rng(seed), np.zeros(table.n_users)
    for u, user in enumerate(table.users):
        state = policy.start()
        cells = [np.flatnonzero((contexts == c) & (table.counts[u] >= 2)) for c in set(contexts)]
        cells = [some for some in sorted(cells, key=tuple) if len(some) >= 2]
        for _ in range(rounds if cells else 0):
            some = cells[rng.integers(len(cells))]
            allowed = np.isin(np.arange(policy.n_arms), [places[a] for a in some])
            arm = int(policy.choose(state, rng, allowed)[0])
            cell = next(a for a in some if places[a] == arm)
            reward = rng.choice(rated[user, table.arms[cell]])
            policy.record(state, [arm], [reward])
            regret[u] += table.means[u, some].max() - table.means[u, cell]
    return regret


def movielens(folder: Path, seeds: range, rounds: int = 60) -> None:
    """LobBayes with the era of the film or the weekday as a context, and without it."""
    rows = []
    for context in ("era", "weekday"):
        found: list[tuple[float, float]] = []
        for seed in seeds:
            ratings = films(folder, seed)
            genres = ratings["genre"].value_counts(sort=True)["genre"][:8]
            ratings = ratings.filter(pl.col("genre").is_in(genres.implode()))
            out = pl.col("userId").hash(seed) % 4 == 0
            columns = ("userId", "genre", "rating")
            for inside in (True, False):
                table = lob.reward_table(
                    ratings.filter(~out), *columns, context=context if inside else None
                )
                prior = fit_prior(table, n_states=4).prior
                lost = replay(ratings.filter(out), prior, context, inside, rounds, seed)
                found.append((float(inside), lost.mean()))
        with_, without = ([r for i, r in found if i == kind] for kind in (1.0, 0.0))
        gain = np.array(with_) - np.array(without)
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        rows.append(
            [context, f"{np.mean(with_):.2f}", f"{np.mean(without):.2f}",
             f"{gain.mean():+.2f} +- {error:.2f}"]
        )  # fmt: skip
    title = f"MovieLens, 8 genres, {rounds} rounds, held-out users, {seeds}: regret of LobBayes"
    show(title, ["context", "with it", "without it", "difference"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=200, help="users of each seed")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of orders, users and noise")
    parser.add_argument("--movielens", type=Path, help="folder with movies.csv and ratings.csv")
    given = parser.parse_args()
    if given.movielens is not None:
        movielens(given.movielens, range(given.seeds))
        return
    together_and_alone(given.users, range(given.seeds))
    seen_elsewhere(given.users)
    cost(given.users)


if __name__ == "__main__":
    main()
