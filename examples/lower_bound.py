"""How much will these orders save me? The least regret with them, and without.

For one user's means: what any good policy must pay per log T, which arms it must try, and what
it could confuse this user with. Writes bound.png.
"""

import numpy as np

import lobandits as lob

ARMS = ["action", "comedy", "documentary", "drama", "horror", "romance", "western"]
MEANS = [3.1, 3.9, 4.1, 4.4, 2.0, 3.5, 2.6]


def main() -> None:
    rng = np.random.default_rng(0)
    own = lob.PartialOrder.from_means(MEANS, arms=ARMS)
    others = [lob.PartialOrder.from_ranking(rng.permutation(7), arms=ARMS) for _ in range(20)]
    orders = lob.LatentOrders.stack([own, *others])

    known = lob.regret_lower_bound(MEANS, orders, sigma=1.0)
    unknown = lob.regret_lower_bound(MEANS, orders, sigma=1.0, kind="mab")
    print(known, unknown, sep="\n\n", end="\n\n")
    for horizon in (100, 1_000, 10_000):
        with_orders, without = known.regret(horizon), unknown.regret(horizon)
        print(f"T = {horizon:6,}: {with_orders:5.1f} with the orders, {without:5.1f} without")
    print(f"knowing the orders saves up to {1 - known.constant / unknown.constant:.0%}\n")

    for q in (1.0, 0.8, 0.6, 0.4):
        part = lob.regret_lower_bound(MEANS, orders.reveal(q, rng=0), sigma=1.0)
        print(f"with {q:4.0%} of each order's relations: {part.constant:5.2f} log T")
    known.plot().savefig("bound.png", dpi=150)
    print("\nwrote bound.png")


if __name__ == "__main__":
    main()
