"""The paper's real-data task: users choose genres of movies, and rate them.

Give the path of any MovieLens edition (``lob data movielens-20m`` downloads one); without a path
the ratings are generated.
"""

import argparse
from pathlib import Path

import lobandits as lob

POLICIES = ["ucb", "ts", "mts", "lobts"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="?", help="folder or zip of a MovieLens edition")
    parser.add_argument("--states", type=int, default=20)
    parser.add_argument("--horizon", type=int, default=300)
    parser.add_argument("--users", type=int, default=48)
    parser.add_argument("--movie-ratings", type=int, default=200, help="leave out movies with less")
    parser.add_argument("--user-ratings", type=int, default=200, help="leave out users with less")
    given = parser.parse_args()
    ratings = lob.load_movielens(given.path) if given.path else lob.make_ratings(n_users=400)
    env = lob.MovieLens(
        ratings,
        n_states=given.states,
        min_movie_ratings=given.movie_ratings,
        min_user_ratings=given.user_ratings,
    )
    print(f"{env.edition}: {env.n_users:,} users, {env.n_arms} genres, {env.n_states} states")
    print(f"imputed genre means: {env.imputed_share:.0%}")
    for setting, alpha in {"A": 0.0, "B": 1.0}.items():
        mixed = env.replace(alpha=alpha)
        result = lob.simulate(mixed, POLICIES, given.horizon, given.users)
        violated = f"{mixed.violations():.1f} of {env.n_arms - 1} relations violated"
        print(f"\nSetting {setting}: {violated}\n{result.summary()}")
        result.plot().savefig(Path(f"movielens-{setting}.png"))


if __name__ == "__main__":
    main()
