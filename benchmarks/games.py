"""Games: past users leave logs, new users play; plain data, for this checkout or for another.

A game is what a benchmark of policies plays. `Checkout` is a process that runs another checkout of
lobandits on the same logs, users and random numbers, so that old and new code meet in one run.
"""

import csv
import importlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

import lobandits as lob

T = TypeVar("T")
Floats = NDArray[np.float64]
STATES = 20  # of policies on orders, clustered from the logs


class Game(NamedTuple):
    """Mean rewards of users who taught, and of users who play; rewards come as ``kind`` says."""

    past: Floats  # (n, k)
    players: Floats  # (n', k)
    rewards: Any  # of each past user, on random arms: one number for all, or (n,)
    seed: int
    kind: str = "gaussian"  # or bernoulli, poisson, student
    sigma: float = 1.0
    precedes: Any = None  # bool (n', m, k, k): the players' orders, or (1, m, k, k), where known


class Played(NamedTuple):
    """What a policy cost."""

    regret: Floats  # (n', horizon)
    microseconds: float  # of processor time, for a decision


def draw(means: Floats, game: Game, rng: np.random.Generator) -> Floats:
    """Draw a reward for each mean."""
    if game.kind == "bernoulli":
        return np.asarray(rng.random(means.shape) < means, np.float64)
    if game.kind == "poisson":
        return rng.poisson(means).astype(np.float64)
    if game.kind == "student":  # of heavy tails, and the same variance
        return np.asarray(means + game.sigma / 3**0.5 * rng.standard_t(3, means.shape))
    return means + game.sigma * rng.standard_normal(means.shape)


def rows(game: Game) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return users, random arms and rewards of the logs."""
    rng, (n, k) = np.random.default_rng([game.seed, 3]), game.past.shape
    users = np.repeat(np.arange(n), game.rewards)
    arms = rng.integers(k, size=len(users))
    return users, arms, draw(game.past[users, arms], game, rng)


def table(game: Game) -> lob.RewardTable:
    """Return the logs, added up."""
    users, arms, rewards = rows(game)
    n, k = game.past.shape
    counts, sums, squares = np.zeros((n, k), np.int64), np.zeros((n, k)), np.zeros((n, k))
    for cells, more in ((counts, 1), (sums, rewards), (squares, rewards**2)):
        np.add.at(cells, (users, arms), more)
    return lob.RewardTable(np.arange(n), tuple(map(str, range(k))), counts, sums, squares)


def play(policy: Any, game: Game, horizon: int) -> Played:
    """Return what the players lose; ``policy`` has start, choose and record."""
    rng, rewards = np.random.default_rng([game.seed, 1]), np.random.default_rng([game.seed, 2])
    n, best = len(game.players), game.players.max(axis=1)
    users, state, regret = np.arange(n), policy.start(n), np.empty((n, horizon))
    policy.choose(policy.start(n), 0)  # compiles
    spent = 0.0
    for t in range(horizon):
        began = time.process_time()
        arms = policy.choose(state, rng)
        spent += time.process_time() - began
        means = game.players[users, arms]
        policy.record(state, arms, draw(means, game, rewards))
        regret[:, t] = best - means
    return Played(regret, 1e6 * spent / (n * horizon))


# What logs teach rivals --------------------------------------------------------------------------


def clustered(logs: lob.RewardTable, seed: int) -> tuple[lob.LatentOrders, Floats]:
    """Return orders and their centres as the paper finds them: k-means in Kendall's tau."""
    n_states = max(1, min(STATES, logs.n_users // 5))
    kmeans = lob.KendallKMeans(n_states, random_state=seed).fit(logs.means)
    orders = lob.LatentOrders.from_rankings(kmeans.rankings_.tolist(), logs.arms)
    return orders, kmeans.centers_


def arm_priors(logs: lob.RewardTable) -> tuple[Floats, Floats]:
    """Return mean and standard deviation over users of each arm's mean, noise taken off."""
    known = logs.counts > 0
    means = np.divide(logs.sums, logs.counts, out=np.full(known.shape, np.nan), where=known)
    n = np.maximum(logs.counts, 1)
    noise = np.where(
        logs.counts > 1, (logs.squares / n - means**2) * n / np.maximum(n - 1, 1), np.nan
    )
    within = np.nanmean(noise) * np.nanmean(np.where(known, 1 / n, np.nan), axis=0)
    spread = np.maximum(np.nanvar(means, axis=0) - within, 0.05 * np.nanvar(means, axis=0))
    return np.nanmean(means, axis=0), np.sqrt(spread)


# Real people -------------------------------------------------------------------------------------


def movielens(folder: str, likes: bool = False, least: int = 30) -> Floats:
    """Return mean ratings of genres, (n, k), of users with ``least`` ratings or more.

    Or how often they like them, with 4 stars or more.
    """
    filters = {"min_movie_ratings": 20, "min_user_ratings": least}
    with tempfile.TemporaryDirectory() as place:
        if likes:
            folder = _as_likes(Path(folder), Path(place) / "ml-latest-small")
        ratings = lob.load_movielens(folder)
        env = lob.MovieLens(ratings, n_states=2, seed=0, progress=False, **filters)
    return np.array(env.means0.clip(0, 1) if likes else env.means0)


def _as_likes(old: Path, new: Path) -> str:
    new.mkdir()
    (new / "movies.csv").write_bytes((old / "movies.csv").read_bytes())
    with (old / "ratings.csv").open() as rated, (new / "ratings.csv").open("w") as liked:
        writer = csv.writer(liked)
        for i, row in enumerate(csv.reader(rated)):
            writer.writerow([*row[:2], row[2] if i == 0 else int(float(row[2]) >= 4), *row[3:]])
    return str(new)


def answers(path: str, user: str, arm: str, reward: str, least: int) -> Floats:
    """Return mean rewards of users with ``least`` arms or more, (n, k).

    What is missing is the user's average and the arm's offset, as in the paper.
    """
    logs = lob.reward_table(path, user, arm, reward)
    some = (logs.counts > 0).sum(axis=1) >= least
    means: Floats = logs.means[some]
    own = np.nanmean(means, axis=1, keepdims=True)
    filled = own + np.nanmean(means - own, axis=0)
    return np.asarray(np.where(np.isnan(means), filled, means))


def split(means: Floats, n_past: int, n_players: int, seed: int) -> tuple[Floats, Floats]:
    """Return users who teach and others who play."""
    order = np.random.default_rng([seed, 77]).permutation(len(means))
    return means[order[:n_past]], means[order[n_past : n_past + n_players]]


# Another checkout --------------------------------------------------------------------------------


class Learned(NamedTuple):
    """LobBayes on a learned prior, for each trust, and what learning took."""

    played: list[Played]
    n_states: int
    seconds: float  # of processors


def lobbayes(game: Game, horizon: int, trusts: Any = (None,), n_states: Any = None) -> Learned:
    """Learn a prior from the game's logs and play LobBayes on it; a trust of None is the usual."""
    logs = table(game)
    began = time.process_time()
    kind = None if game.kind == "student" else game.kind
    prior = learned_prior(logs, n_states, game.seed, kind)
    seconds = time.process_time() - began
    options: list[dict[str, Any]] = [{} if trust is None else {"trust": trust} for trust in trusts]
    played = [play(lob.LobBayes(prior, **given), game, horizon) for given in options]
    return Learned(played, prior.n_states, seconds)


def learned_prior(
    logs: lob.RewardTable, n_states: int | None = None, seed: int = 0, kind: str | None = None
) -> lob.Prior:
    """Return the prior of logs, also with code from before the factor prior."""
    told: dict[str, Any] = {"n_states": n_states, "seed": seed, "workers": 1}
    learn: Any
    try:
        learn = importlib.import_module("lobandits.learning.fit_prior").fit_prior
        told["likelihood"] = kind
    except ImportError:
        learn = importlib.import_module("lobandits.learning.prior").learn_prior
    prior: lob.Prior = learn(logs, **told).prior
    return prior


def lobids(game: Game, horizon: int, told: float) -> Played:
    """Play LobIDS, which knows the players' orders alone, and takes sigma to be ``told``."""
    k = game.players.shape[1]
    relations: list[Any] = [[np.argwhere(above).tolist() for above in s] for s in game.precedes]
    sets = [lob.LatentOrders.from_relations(k, states) for states in relations]
    orders = lob.UserOrders.stack(sets) if len(sets) > 1 else sets[0]
    return play(lob.LobIDS(orders, told), game, horizon)


class Checkout:
    """Another checkout of lobandits, in a process of its own."""

    def __init__(self, path: str) -> None:
        places = Path(path) / "src", Path(__file__).parent
        self._process = subprocess.Popen(
            [sys.executable, "-c", "import games; games.answer()"],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, places))},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __call__(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return what a function of this file returns there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((function.__name__, arguments), self._process.stdin)
        self._process.stdin.flush()
        answer: T = pickle.load(self._process.stdout)
        return answer


def answer() -> None:
    """Answer what a `Checkout` asks on the standard input."""
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr
    with suppress(EOFError):
        while True:
            name, arguments = pickle.load(questions)
            pickle.dump(globals()[name](*arguments), answers)
            answers.flush()
