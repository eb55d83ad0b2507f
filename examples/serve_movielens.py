"""Replay users against a running service, and print the regret that it saves against UCB.

    python examples/serve_movielens.py                 # generated users, and a server of its own
    python examples/serve_movielens.py ml-1m           # users of MovieLens, from its folder
    python examples/serve_movielens.py --url http://127.0.0.1:8000

A server of yours gets these users' orders as its model, so use one with a store of its own; its
key, if it has keys, is read from LOB_ADMIN_KEY.
"""

import argparse
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

import lobandits as lob

GENRES = ("action", "animation", "comedy", "crime", "drama", "horror", "musical", "romance")
STATES, SIGMA = 12, 1.0
USERS, ROUNDS = 50, 100


def generated() -> lob.Problems:
    """Return users whose states order the genres, and whose ratings are their own."""
    rng = np.random.default_rng(0)
    rankings = [rng.permutation(GENRES).tolist() for _ in range(STATES)]
    orders = lob.LatentOrders.from_rankings(rankings, arms=GENRES)
    states = rng.integers(STATES, size=USERS)
    ratings = np.sort(rng.uniform(1, 5, (USERS, len(GENRES))))[:, ::-1]
    places = [[ranking.index(genre) for genre in GENRES] for ranking in rankings]
    means = np.take_along_axis(ratings, np.array(places)[states], axis=1)
    return lob.FixedProblems(means, orders, SIGMA, states).problems


@contextmanager
def served(folder: str) -> Iterator[str]:
    """Run ``lob serve`` with a model that is soon replaced; return its address."""
    lob.LatentOrders.from_rankings([["a", "b"]], arms=["a", "b"]).save(f"{folder}/orders.json")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = ["serve", "--orders", "orders.json", "--port", port, "--log-level", "warning"]
    with subprocess.Popen([sys.executable, "-m", "lobandits.cli", *command], cwd=folder) as server:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def replay(client: lob.Client, problems: lob.Problems) -> NDArray[np.float64]:
    """Return the regret of each user and round."""
    rng = np.random.default_rng(1)
    arms = {name: arm for arm, name in enumerate(problems.arms)}
    rows = np.arange(problems.n_users)
    regret = np.empty((problems.n_users, ROUNDS))
    for t in range(ROUNDS):
        decisions = client.decide_many([f"user {i}" for i in rows])
        earned = problems.means[rows, [arms[decision.arm] for decision in decisions]]
        rewards = rng.normal(earned, problems.sigma)
        client.record_many(zip((d.id for d in decisions), rewards.tolist(), strict=True))
        regret[:, t] = problems.means.max(axis=1) - earned
    return regret


def run(url: str, problems: lob.Problems) -> None:
    """Play all rounds at ``url``, and compare."""
    with lob.Client(url, os.environ.get("LOB_ADMIN_KEY"), retries=60) as client:
        client.ready()
        assert isinstance(problems.orders, lob.LatentOrders)
        model = client.put_model(lob.LobTS(problems.orders, problems.sigma))
        print(f"{url} serves the model {model}")
        regret = replay(client, problems).sum(axis=1)
        best = client.explain("user 0")["why"]
        for user in range(problems.n_users):
            client.forget(f"user {user}")
    env = lob.FixedProblems(problems.means, problems.orders, problems.sigma)
    result = lob.simulate(env, ["ucb"], ROUNDS, problems.n_users, seed=0, progress=False)
    ucb = result.regret["ucb"].sum(axis=1)
    print(f"{problems.n_users} users, {ROUNDS} decisions for each, {problems.n_arms} arms")
    print(f"regret of the service {regret.mean():7.1f}")
    print(f"regret of UCB         {ucb.mean():7.1f}")
    print(f"saved                 {1 - regret.mean() / ucb.mean():7.0%}")
    top = max(best, key=lambda row: row["probability"])
    print(f"user 0 would now get {top['arm']}, with probability {top['probability']:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", nargs="?", help="folder or file of MovieLens")
    parser.add_argument("--url", help="a running server; by default one is started")
    options = parser.parse_args()
    if options.path:
        ratings = lob.load_movielens(options.path)
        env = lob.MovieLens(ratings, n_states=STATES, min_movie_ratings=20, min_user_ratings=50)
        problems = env.sample(USERS, seed=0)
    else:
        problems = generated()
    if options.url:
        run(options.url, problems)
    else:
        with TemporaryDirectory() as folder, served(folder) as url:
            run(url, problems)


if __name__ == "__main__":
    main()
