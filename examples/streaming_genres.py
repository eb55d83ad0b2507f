"""A streaming service: from a log of ratings to genres for new users.

Past users rated genres on scales of their own. Orders are learned from the log; new users then
get genres from a policy that knows these orders, and from one that starts from nothing. Prints
the regret of both, and writes streaming_states.png and streaming_regret.png.
"""

import lobandits as lob

N_PAST, N_NEW, ROUNDS = 2000, 400, 100


def main() -> None:
    everybody = lob.make_ratings(N_PAST + N_NEW, n_arms=12, n_states=8, ratings_per_user=100)
    past = lob.make_ratings(N_PAST, n_arms=12, n_states=8, ratings_per_user=100)  # the first users

    model = lob.learn(past.table, "userId", "genre", "rating", n_states=8)
    print(model, model.prior, sep="\n", end="\n\n")
    model.plot().savefig("streaming_states.png", dpi=150)

    new_users = lob.FixedProblems(everybody.means[N_PAST:], model.orders, sigma=model.sigma)
    result = lob.simulate(
        new_users, ["ts", "lobts", "lobids"], horizon=ROUNDS, n_users=N_NEW, progress=False
    )
    print(result.summary(), end="\n\n")
    print(result.difference("lobids", "ts"))
    result.plot().savefig("streaming_regret.png", dpi=150)


if __name__ == "__main__":
    main()
