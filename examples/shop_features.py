"""A shop knows a plan and an age before the first visit, and of a new product its kind and price.

Past customers teach what these say; new ones are shown products with and without them. Prints what
the first and the first ten products sell, and where a product that nobody has seen starts.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

import lobandits as lob

PRODUCTS = {
    "desk": ("home", 240.0), "lamp": ("home", 60.0), "chair": ("home", 150.0),
    "boots": ("sport", 120.0), "tent": ("sport", 310.0), "bottle": ("sport", 15.0),
    "novel": ("books", 12.0), "atlas": ("books", 45.0),
}  # fmt: skip
SHOWN, PAST, NEW = 12, 2000, 2000


def main() -> None:
    people, rates = customers(PAST + NEW)
    rng = np.random.default_rng(1)
    user, arm = np.repeat(np.arange(PAST), SHOWN), rng.integers(len(PRODUCTS), size=PAST * SHOWN)
    bought = (rng.random(len(user)) < rates[user, arm]).astype(int)
    logs = pl.DataFrame({"user": user, "arm": np.array(list(PRODUCTS))[arm], "reward": bought})
    arms = {name: {"kind": kind, "price": price} for name, (kind, price) in PRODUCTS.items()}
    known = ["plan", "age"]
    with_them = lob.learn(logs, features=known, users=people.head(PAST), arm_features=arms)
    without = lob.learn(logs)
    new = people.tail(NEW).select(known)
    for name, model, features in (("with", with_them, new), ("without", without, None)):
        first, ten = sold(lob.LobBayes(model), model.arms, rates[PAST:], features)
        print(f"{name:8} features: first product {100 * first:.2f} %, first ten {100 * ten:.2f} %")
    grown = with_them.with_arm("mug", features={"kind": "home", "price": 14.0})
    start = dict(zip(grown.arms, grown.prior.state_means[0], strict=True))
    print(
        f"a new mug starts at {100 * start['mug']:.1f} %, a desk is at {100 * start['desk']:.1f} %"
    )


def customers(n: int) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """Return what is known of customers, and the chance that each buys each product."""
    rng = np.random.default_rng(0)
    family, age = rng.random(n) < 0.4, rng.uniform(18, 75, n)
    home, sport = 0.7 * family[:, None], (0.03 * (45 - age))[:, None]
    kinds = np.array([kind for kind, _ in PRODUCTS.values()])
    price = np.array([price for _, price in PRODUCTS.values()])
    eta = -2.2 - 0.004 * price + home * (kinds == "home") + sport * (kinds == "sport")
    eta = eta + rng.normal(0, 0.4, (n, 1)) + rng.normal(0, 0.5, (n, len(PRODUCTS)))
    people = pl.DataFrame({
        "user": np.arange(n), "plan": np.where(family, "family", "single"), "age": age,
    })  # fmt: skip
    return people, 1 / (1 + np.exp(-eta))


def sold(
    policy: lob.Policy, arms: tuple[str, ...], rates: NDArray[np.float64], features: object
) -> tuple[float, float]:
    """Return what share of the first, and of the first ten, products shown are bought."""
    rng, n = np.random.default_rng(2), len(rates)
    own = rates[:, [list(PRODUCTS).index(arm) for arm in arms]]
    state, chances = policy.start(n, features=features), []
    for _ in range(10):
        shown = policy.choose(state, rng)
        chance = own[np.arange(n), shown]
        policy.record(state, shown, (rng.random(n) < chance).astype(float))
        chances.append(chance.mean())
    return float(chances[0]), float(np.mean(chances))


if __name__ == "__main__":
    main()
