"""Users' means around orders that the tests know."""

from typing import Any

import numpy as np


def planted(n: int, k: int, m: int, noise: float, missing: float, seed: int) -> Any:
    """Return users' means around m random orders, with scales of their own, and the orders."""
    rng = np.random.default_rng(seed)
    places = np.stack([rng.permutation(k) for _ in range(m)]).astype(np.float64)
    states = rng.integers(m, size=n)
    means = places[states] + rng.normal(0, noise, (n, k))
    means = rng.uniform(-2, 2, (n, 1)) + rng.uniform(0.2, 3, (n, 1)) * means
    means[rng.random((n, k)) < missing] = np.nan
    told = (~np.isnan(means)).sum(axis=1) >= 2
    return means[told], np.argsort(-places, axis=1), states[told]


def as_set(rankings: Any) -> set[tuple[int, ...]]:
    """Return orders that can be compared, whatever the states' numbers."""
    return {tuple(int(a) for a in row) for row in rankings}
