"""Dense linear algebra that the kernels of priors must agree with."""

import numpy as np
from scipy.stats import multivariate_normal

from lobandits._checks import FloatArray, IntArray
from lobandits.priors import Prior


def random_prior(
    m: int, k: int, seed: int, factors: tuple[float, ...] = (1.0,), sigma: float = 0.7
) -> Prior:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((k, k))
    return Prior(
        arms=tuple(f"arm {a}" for a in range(k)),
        shares=rng.dirichlet(np.ones(m)),
        means=rng.normal(2.0, 1.5, (m, k)),
        spread=0.1 * root @ root.T + 0.2 * np.eye(k),
        shift=0.8,
        scales=rng.uniform(0.0, 0.6, m),
        sigma=sigma,
        factors=np.array(factors),
    )


def covariance(prior: Prior, s: int, factor: float = 1.0) -> FloatArray:
    """C_s, written out."""
    d = prior.means[s] - prior.means[s].mean()
    own = prior.spread + prior.scales[s] ** 2 * np.outer(d, d)
    result: FloatArray = factor**2 * own + prior.shift**2 * np.ones_like(own)
    return result


def posterior(
    prior: Prior, s: int, counts: IntArray, sums: FloatArray, factor: float = 1.0
) -> tuple[FloatArray, FloatArray, float]:
    """Mean and covariance of mu under state s, and the log evidence of the averages."""
    seen = counts > 0
    c, mean = covariance(prior, s, factor), factor * prior.means[s]
    if not seen.any():
        return mean, c, 0.0
    y = sums[seen] / counts[seen]
    total = c[np.ix_(seen, seen)] + np.diag(prior.sigma**2 / counts[seen])
    gain = c[:, seen] @ np.linalg.inv(total)
    log = multivariate_normal.logpdf(y, mean[seen], total)
    return mean + gain @ (y - mean[seen]), c - gain @ c[seen], float(log)


def random_rewards(n: int, k: int, seed: int) -> tuple[IntArray, FloatArray]:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.5, (n, k)) * (rng.random((n, k)) < 0.7)
    return counts, counts * rng.normal(2.0, 2.0, (n, k))
