"""TS, the paper's "Gaussian-Gaussian TS"."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    checked_spread,
    finite_array,
    read_only,
    real,
    whole,
)
from lobandits.basics.kernel import Plain, kernel, part
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_names
from lobandits.policies.explanation import Details
from lobandits.policies.policy import Policy
from lobandits.policies.state import State

TAIL = 7.0  # standard deviations beyond which a density, or what is above, vanishes


class ArmPriors(NamedTuple):
    """The prior of each arm's mean, as the kernels read it."""

    sigma: float
    mean: FloatArray  # (k,)
    plays: FloatArray  # (k,): how many rewards it is worth, (sigma / std)^2


@dataclass(frozen=True)
class TS(Policy[State]):
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
        The prior of every arm's mean, one for all arms or one for each; wide, since one narrower
        than the means' spread fails.
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
    style = ("#009e73", "solid", "o")
    n_arms: int
    sigma: float
    prior_mean: float | FloatArray = 0.0
    prior_std: float | FloatArray = 100.0
    arms: tuple[str, ...] = field(default=(), kw_only=True, repr=False)

    def __post_init__(self) -> None:
        self._set(
            n_arms=whole("n_arms", self.n_arms),
            sigma=checked_spread("sigma", self.sigma),
            arms=arm_names(self.n_arms, self.arms or None),
        )
        self._set(
            prior_mean=self._for_arms("prior_mean", self.prior_mean),
            prior_std=self._for_arms("prior_std", self.prior_std),
        )
        for std in np.atleast_1d(self.prior_std).tolist():
            checked_spread("prior_std", std)
        super().__post_init__()

    def _for_arms(self, name: str, value: ArrayLike) -> float | FloatArray:
        """Return one number for all arms, or one for each."""
        if np.ndim(value) == 0:
            return real(name, value)  # type: ignore[arg-type]
        array = finite_array(name, value, ndim=1)
        if len(array) != self.n_arms:
            raise LobInputError(
                f"{name} has {len(array)} entries for {self.n_arms} arms; give one for each, or "
                "one number for all"
            )
        return array

    @cached_property
    def _priors(self) -> ArmPriors:
        mean = np.broadcast_to(self.prior_mean, self.n_arms).astype(np.float64)
        std = np.broadcast_to(self.prior_std, self.n_arms).astype(np.float64)
        return ArmPriors(self.sigma, read_only(mean), read_only((self.sigma / std) ** 2))

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the chance that each allowed arm's draw is the largest, to about 1e-9."""
        return largest_draw_odds(state.counts, state.sums, allowed, tuple(self._priors), *RULE)

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return one standard normal number per arm of each decision, shape + (n_arms,)."""
        return rng.standard_normal((*shape, self.n_arms))

    def decide(self, state: State, noise: FloatArray, allowed: BoolArray) -> IntArray:
        """Return each user's allowed arm of the largest draw: far cheaper than its chance."""
        chosen = np.empty(state.n_users, np.int64)
        largest_draws(state.counts, state.sums, allowed, tuple(self._priors), noise, chosen)
        return chosen

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the posterior of every mean."""
        means, stds = np.empty(self.n_arms), np.empty(self.n_arms)
        posterior(state.counts[0], state.sums[0], self._priors, means, stds)
        return Details(arms={"posterior mean": means, "posterior std": stds})


@part
def posterior(
    counts: IntArray, sums: FloatArray, prior: ArmPriors, means: FloatArray, stds: FloatArray
) -> None:
    """Write the posterior mean and standard deviation of each arm's mean.

    With h = 1 / sqrt(N + sigma^2 / v_0): m = m_0 + h^2 (sum r - N m_0), sqrt(v) = h sigma.
    """
    for a in range(len(counts)):
        shrink = 1.0 / np.sqrt(counts[a] + prior.plays[a])
        start = prior.mean[a]
        means[a] = start + shrink * shrink * (sums[a] - counts[a] * start)
        stds[a] = shrink * prior.sigma


@kernel
def largest_draws(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    priors: Plain,
    noise: FloatArray,
    chosen: IntArray,
) -> None:
    """Write each user's allowed arm of the largest posterior draw m + sqrt(v) z. Cost O(n k)."""
    n, k = counts.shape
    draws, stds, prior = np.empty(k), np.empty(k), ArmPriors(*priors)
    for u in range(n):
        some = allowed[u if len(allowed) > 1 else 0]
        posterior(counts[u], sums[u], prior, draws, stds)
        for a in range(k):
            draw = draws[a] + stds[a] * noise[u, a]
            draws[a] = draw if some[a] else -np.inf
        chosen[u] = draws.argmax()


@kernel
def largest_draw_odds(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    priors: Plain,
    nodes: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Return the chances of `largest_draws` over its noise, (n, k)."""
    n, k = counts.shape
    odds = np.zeros((n, k))
    means, stds, prior = np.empty(k), np.empty(k), ArmPriors(*priors)
    for u in range(n):
        some = allowed[u if len(allowed) > 1 else 0]
        posterior(counts[u], sums[u], prior, means, stds)
        odds[u, some] = chances_of_largest(means[some], stds[some], nodes, weights)
    return odds


def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    at, weights = np.polynomial.legendre.leggauss(nodes)
    return read_only((at + 1) / 2), read_only(weights / 2)


RULE = _rule(10)


@kernel
def chances_of_largest(
    means: FloatArray, stds: FloatArray, nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return P(X_a is the largest) of independent X_a ~ N(m_a, v_a), by quadrature.

    It is the integral of pdf_a(x) prod_{b != a} cdf_b(x) dx.

    Below ``start = max(mean - tail std)`` the product vanishes, above ``max(mean + tail std)``
    the densities do; x counts from start. Invariant: a panel is no wider than the std of any
    arm that still varies in it, so ten nodes give ten digits. At most 2 tail k panels.
    """
    odds = np.zeros(len(means))
    density, below = np.empty(len(means)), np.empty(len(means))
    start = (means - TAIL * stds).max()
    end = (means + TAIL * stds).max() - start
    if end == 0.0:  # the stds vanish beside the means: every draw is its mean
        odds[means.argmax()] = 1.0
        return odds
    x = 0.0
    while x < end:
        width = end - x
        for b in range(len(means)):
            if start - means[b] + x < TAIL * stds[b]:
                width = min(width, stds[b])
        for j in range(len(nodes)):
            product = weights[j] * width
            for b in range(len(means)):
                z = (start - means[b] + x + nodes[j] * width) / stds[b]
                if z > TAIL:
                    below[b], density[b] = 1.0, 0.0
                    continue
                below[b] = 0.5 * math.erfc(-z / math.sqrt(2.0))
                density[b] = math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * stds[b])
                product *= below[b]
            for a in range(len(means)):
                odds[a] += product * density[a] / below[a]
        x += width
    odds /= odds.sum()
    return odds
