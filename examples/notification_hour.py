"""When to send a push notification? Clicks are 0 or 1, and orders are partial.

From past users we know four habits, each as the relations between hours that are certain; the
rest stays open. A new user's click rates follow one habit, on a level of their own. Prints how many
clicks half a year brings, and writes notification_hour.png.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

import lobandits as lob

HOURS = ["07h", "09h", "12h", "15h", "18h", "20h", "22h"]
HABITS = {  # chains of hours, best first; what stands in no common chain stays open
    "commuter": ["07h 18h 09h 12h 15h", "18h 20h 22h"],
    "lunch break": ["12h 15h 09h 07h", "12h 18h 20h 22h"],
    "evening": ["20h 18h 15h 12h 09h 07h", "20h 22h"],
    "night owl": ["22h 20h 18h 15h", "22h 12h 09h 07h"],
}
N_USERS, DAYS = 400, 180


def main() -> None:
    orders = lob.LatentOrders.from_relations(
        len(HOURS), [relations(chains) for chains in HABITS.values()], arms=HOURS
    )
    env = lob.FixedProblems(click_rates(orders), orders, sigma=0.5, rewards="bernoulli")
    result = lob.simulate(
        env, ["ucb", "ts", "lobts", "lobids"], horizon=DAYS, n_users=N_USERS, progress=False
    )
    print(result.summary(), end="\n\n")
    best = env.sample(N_USERS, seed=0).means.max(axis=1).mean() * DAYS
    for policy in result.policies:
        clicks = best - result.totals[policy].mean()
        print(f"{policy:8} {clicks:5.1f} clicks per user in {DAYS} days")
    print(f"{'(best)':8} {best:5.1f}")
    result.plot().savefig("notification_hour.png", dpi=150)


def relations(chains: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of hours that follow each other in a chain: (better, worse)."""
    return [pair for chain in chains for pair in pairwise(chain.split())]


def click_rates(orders: lob.LatentOrders) -> NDArray[np.float64]:
    """Return rates that keep each user's habit, with a level and a spread of their own."""
    rng = np.random.default_rng(0)
    rates = np.empty((N_USERS, orders.n_arms))
    for user in range(N_USERS):
        level, spread = rng.uniform(0.2, 0.4), rng.uniform(0.2, 0.4)
        raw = level + spread * rng.normal(size=orders.n_arms)
        order = orders[int(rng.integers(orders.n_states))]
        above = order.precedes.sum(axis=0)  # how many hours are better; makes the order strict
        rates[user] = (lob.project(raw, 1.0, order) - 0.02 * above).clip(0.01, 0.99)
    return rates


if __name__ == "__main__":
    main()
