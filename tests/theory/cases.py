"""Random orders of every shape, and instances that agree with one of their states."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.orders import LatentOrders

Pairs = list[tuple[int, int]]


def random_relations(rng: np.random.Generator, n_arms: int, density: float) -> Pairs:
    """A random share of the relations of a random total order: in general a DAG."""
    ranking = rng.permutation(n_arms)
    return [
        (int(ranking[i]), int(ranking[j]))
        for i in range(n_arms)
        for j in range(i + 1, n_arms)
        if rng.random() < density
    ]


def random_orders(
    rng: np.random.Generator, n_arms: int, n_states: int, density: float
) -> LatentOrders:
    """Distinct random states; density 1 gives total orders."""
    states: dict[bytes, Pairs] = {}
    for _ in range(4 * n_states):
        pairs = random_relations(rng, n_arms, density)
        closure = LatentOrders.from_relations(n_arms, [pairs]).precedes
        states.setdefault(closure.tobytes(), pairs)
        if len(states) == n_states:
            break
    return LatentOrders.from_relations(n_arms, list(states.values()))


def random_means(rng: np.random.Generator, orders: LatentOrders, state: int = 0) -> FloatArray:
    """Means that agree with ``state`` and with a random linear extension of it."""
    above = orders.precedes[state]
    values = np.sort(rng.exponential(1.0, orders.n_arms))[::-1] + 0.05 * np.arange(
        orders.n_arms, 0, -1
    )
    means = np.empty(orders.n_arms)
    left = list(rng.permutation(orders.n_arms))
    for value in values:
        arm = next(a for a in left if not above[left, a].any())
        means[arm] = value
        left.remove(arm)
    return means
