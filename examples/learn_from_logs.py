"""From logs to decisions: learn orders from ratings, then meet a new user.

The ratings are generated, so that the orders behind them are known. Users agree on an order with
others, and on no number: each has a scale and a shift of their own.
"""

from collections import Counter

import numpy as np

import lobandits as lob

ratings = lob.make_ratings(
    n_users=600, n_arms=8, n_states=4, ratings_per_user=120, half_stars=True, seed=1
)
path = ratings.write("ratings.parquet")
print(f"{path}: {ratings.n_rows:,} rows of {', '.join(ratings.table.column_names)}")

# Only three numbers for each user and arm leave the file.
table = lob.reward_table(path, user="userId", arm="genre", reward="rating", min_user_rewards=50)
print(table)

model = lob.learn(table, n_states=4, seed=0)
model.save("model.json")  # no user is in it
print(model.prior)
for s, order in enumerate(model.orders):
    print(f"{model.sizes[s]:4} users: {order}")

planted = {str(order) for order in ratings.orders}
found = sum(str(order) in planted for order in model.orders)
print(f"{found} of the {len(planted)} planted orders found exactly")

# A new user: every reward tells the agent more about the state, hence about all arms.
everyone = lob.make_ratings(
    n_users=601, n_arms=8, n_states=4, ratings_per_user=120, half_stars=True, seed=1
)
means = dict(zip(everyone.orders.arms, everyone.means[-1], strict=True))
rng = np.random.default_rng(0)
agent = lob.Agent(lob.LobTS(model.orders, sigma=model.sigma), seed=0)
played: Counter[str] = Counter()
for _ in range(200):
    arm = agent.choose()
    agent.record(arm, float(np.clip(rng.normal(means[arm], 1.0), 0.5, 5.0)))
    played[arm] += 1
best = max(means, key=means.__getitem__)
print(f"the new user's best arm is {best}; played in 200 rounds: {dict(played.most_common(3))}")
