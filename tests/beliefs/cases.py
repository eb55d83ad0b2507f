"""Priors and rewards that the tests of beliefs share."""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs import Gaussian, Likelihood, Prior


def random_prior(
    m: int,
    k: int,
    seed: int,
    r: int = 2,
    factors: tuple[float, ...] = (1.0,),
    e: int = 0,
    likelihood: Likelihood | None = None,
    level: float = 2.0,
) -> Prior:
    """A prior of m states and k arms with r loadings, and e directions of each state's own."""
    rng = np.random.default_rng(seed)
    return Prior(
        arms=tuple(f"arm {a}" for a in range(k)),
        shares=rng.dirichlet(np.full(m, 2.0)),
        means=rng.normal(level, 1.0, (m, k)),
        loadings=rng.normal(0.2, 0.6, (k, r)),
        own=rng.uniform(0.05, 0.6, k),
        scales=rng.uniform(0.0, 0.6, m),
        likelihood=Gaussian(0.7) if likelihood is None else likelihood,
        factors=np.array(factors),
        directions=rng.normal(0.0, 0.4, (m, k, e)) if e else None,
    )


def random_rewards(n: int, k: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Counts and sums of n users; some arms are without."""
    rng = np.random.default_rng(seed)
    counts = (rng.poisson(1.5, (n, k)) * (rng.random((n, k)) < 0.7)).astype(float)
    return counts, counts * rng.normal(2.0, 2.0, (n, k))


def random_clicks(n: int, k: int, rate: float, most: int, seed: int) -> tuple[FloatArray, ...]:
    """Counts and numbers of clicks of n users; some arms are without."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, most + 1, (n, k))
    return counts.astype(float), rng.binomial(counts, rate).astype(float)
