"""TS, the paper's "Gaussian-Gaussian TS"."""

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits._checks import FloatArray, IntArray, read_only, real, whole
from lobandits._jit import kernel
from lobandits.orders.arms import arm_names
from lobandits.policies.base import Details, Policy
from lobandits.policies.families import (
    checked_spread,
)
from lobandits.policies.state import State

NODES = 10
Prior = tuple[float, float, float]  # sigma, and the mean and the std of the prior


@dataclass(frozen=True, eq=False, repr=False)
class TS(Policy):
    r"""Play argmax_a of draws :math:`\tilde\mu_a \sim N(m_a, v_a)` from the posterior of each mean.

    With prior :math:`N(m_0, v_0)` and rewards :math:`N(\mu_a, \sigma^2)` the posterior is
    :math:`1 / v_a = 1 / v_0 + N_a / \sigma^2`,
    :math:`m_a = v_a (m_0 / v_0 + \sum r / \sigma^2)`.

    Parameters
    ----------
    n_arms
        Number of arms.
    sigma
        Standard deviation of rewards, the paper's c.
    prior_mean, prior_std
        The prior of every arm's mean; wide, since one narrower than the means' spread fails.
    arms
        Their names; by default ``"0", "1", ...``.

    Examples
    --------
    >>> policy = TS(n_arms=2, sigma=1.0)
    >>> state = policy.start()
    >>> policy.record(state, [0, 1], [1.0, 0.0], users=0)
    >>> policy.probabilities(state).round(4)
    array([[0.7602, 0.2398]])
    """

    name = "ts"
    n_arms: int
    sigma: float
    prior_mean: float = 0.0
    prior_std: float = 100.0
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._fix(
            n_arms=whole("n_arms", self.n_arms),
            sigma=checked_spread("sigma", self.sigma),
            prior_mean=real("prior_mean", self.prior_mean),
            prior_std=checked_spread("prior_std", self.prior_std),
            arms=arm_names(self.n_arms, self.arms or None),
        )

    @cached_property
    def _prior(self) -> Prior:
        return self.sigma, self.prior_mean, self.prior_std

    @cached_property
    def _rule(self) -> tuple[FloatArray, FloatArray]:
        """Nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        return read_only((nodes + 1) / 2), read_only(weights / 2)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return one standard normal number per arm of each decision, shape + (n_arms,)."""
        return rng.standard_normal((*shape, self.n_arms))

    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return each user's arm of the largest draw."""
        return largest_draws(state.counts, state.sums, self._prior, noise)

    def propensities(self, state: State) -> FloatArray:
        """Return the chance that each arm's draw is the largest, to about 1e-9."""
        return largest_draw_odds(state.counts, state.sums, self._prior, *self._rule)

    def details(self, state: State) -> Details:
        """Return the posterior of every mean."""
        means, stds = np.empty(self.n_arms), np.empty(self.n_arms)
        posterior(state.counts[0], state.sums[0], self._prior, means, stds)
        return Details(arms={"posterior mean": means, "posterior std": stds})


@kernel
def posterior(
    counts: IntArray, sums: FloatArray, prior: Prior, means: FloatArray, stds: FloatArray
) -> None:
    """Write the posterior mean and standard deviation of each arm's mean.

    With h = 1 / sqrt(N + sigma^2 / v_0): m = m_0 + h^2 (sum r - N m_0), sqrt(v) = h sigma.
    """
    sigma, prior_mean, prior_std = prior
    start = (sigma / prior_std) ** 2
    for a in range(len(counts)):
        shrink = 1.0 / np.sqrt(counts[a] + start)
        means[a] = prior_mean + shrink * shrink * (sums[a] - counts[a] * prior_mean)
        stds[a] = shrink * sigma


@kernel
def largest_draws(counts: IntArray, sums: FloatArray, prior: Prior, noise: FloatArray) -> IntArray:
    """Return each user's arm of the largest posterior draw m + sqrt(v) z. Cost O(n k)."""
    n, k = counts.shape
    chosen = np.empty(n, np.int64)
    means, stds = np.empty(k), np.empty(k)
    for u in range(n):
        posterior(counts[u], sums[u], prior, means, stds)
        for a in range(k):
            means[a] += stds[a] * noise[u, a]
        chosen[u] = means.argmax()
    return chosen


@kernel
def largest_draw_odds(
    counts: IntArray, sums: FloatArray, prior: Prior, nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return the chances of `largest_draws` over its noise, (n, k)."""
    n, k = counts.shape
    odds = np.zeros((n, k))
    means, stds = np.empty(k), np.empty(k)
    density, below = np.empty(k), np.empty(k)
    for u in range(n):
        posterior(counts[u], sums[u], prior, means, stds)
        integrate(means, stds, nodes, weights, 7.0, odds[u], density, below)
    return odds


@kernel
def integrate(
    means: FloatArray,
    stds: FloatArray,
    nodes: FloatArray,
    weights: FloatArray,
    tail: float,
    odds: FloatArray,
    density: FloatArray,
    below: FloatArray,
) -> None:
    """Add to ``odds[a]`` the integral of pdf_a(x) prod_{b != a} cdf_b(x) dx.

    Below ``start = max(mean - tail std)`` the product vanishes, above ``max(mean + tail std)``
    the densities do; x counts from start. Invariant: a panel is no wider than the std of any
    arm that still varies in it, so ten nodes give ten digits. At most 2 tail k panels.
    """
    start = (means - tail * stds).max()
    end = (means + tail * stds).max() - start
    if end == 0.0:  # the stds vanish beside the means: every draw is its mean
        odds[means.argmax()] += 1.0
        return
    x = 0.0
    while x < end:
        width = end - x
        for b in range(len(means)):
            if start - means[b] + x < tail * stds[b]:
                width = min(width, stds[b])
        for j in range(len(nodes)):
            product = weights[j] * width
            for b in range(len(means)):
                z = (start - means[b] + x + nodes[j] * width) / stds[b]
                if z > tail:
                    below[b], density[b] = 1.0, 0.0
                    continue
                below[b] = 0.5 * math.erfc(-z / math.sqrt(2.0))
                density[b] = math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * stds[b])
                product *= below[b]
            for a in range(len(means)):
                odds[a] += product * density[a] / below[a]
        x += width
    odds /= odds.sum()
