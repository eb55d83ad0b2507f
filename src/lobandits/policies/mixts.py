"""MixTS: Thompson sampling with a mixture prior, after Hong et al. (2022)."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, whole
from lobandits._jit import kernel
from lobandits.policies.explanation import Details
from lobandits.policies.mixture_points import (
    Mixture,
    PointMemory,
    draw_points,
    make_memory,
    make_mixture,
    point_tables,
)
from lobandits.policies.policy import Policy
from lobandits.policies.state import State
from lobandits.priors.prior import Prior, checked_prior, checked_sigma, sound_sigma


@dataclass(frozen=True)
class MixTS(Policy[State]):
    r"""Play each arm with the chance that it is the best under the posterior of a mixture prior.

    .. math:: \pi_a = P(\mu_a = \max_b \mu_b \mid \mathrm{rewards}), \qquad
        \mu \mid s \sim N(m_s, C_s), \; s \sim w,

    over points of the posterior, so that the propensities are exact. With one state this is
    Thompson sampling with a Gaussian prior learned from logs (empirical Bayes).

    Parameters
    ----------
    prior, sigma
        As in `LobBayes`.
    n_points
        Points of the posterior.

    Examples
    --------
    >>> prior = Prior(["a", "b"], [1.0], [[4.0, 0.0]], np.eye(2), 0.0, [0.0], 1.0)
    >>> policy = MixTS(prior)
    >>> policy.probabilities(policy.start()).round(1)
    array([[1., 0.]])
    """

    name = "mixts"
    style = ("#44aa99", "dashed", "v")
    prior: Prior = field(repr=False, metadata={"decode": Prior.from_dict})
    sigma: float | None = None
    n_points: int = 64
    n_arms: int = field(init=False)
    arms: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        prior = checked_prior(self.prior)
        self._set(
            sigma=checked_sigma(prior, self.sigma),
            n_points=whole("n_points", self.n_points),
            n_arms=prior.n_arms,
            arms=prior.arms,
        )
        super().__post_init__()

    @cached_property
    def _mixture(self) -> Mixture:
        return make_mixture(self.prior, trust=0.0, stranger=0.0)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the number of points with each allowed arm on top."""
        assert self.sigma is not None
        tables = point_tables(self.n_points, self.n_arms + 1)
        memory = make_memory(self.prior, self.n_points)
        sigma = sound_sigma(self.prior, self.sigma)
        return tops(state.counts, state.sums, allowed, sigma, self._mixture, tables, memory)

    def state_posterior(self, state: State) -> FloatArray:
        """Return the chance of each state."""
        return self.prior.posterior(state.counts, state.sums, self.sigma)[0]

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the posterior means, and the chances of the states."""
        chances, means, _ = self.prior.posterior(state.counts, state.sums, self.sigma)
        return Details(arms={"posterior mean": means[0]}, states={"chance": chances[0]})


@kernel
def tops(
    counts: IntArray,
    sums: FloatArray,
    allowed: BoolArray,
    sigma: float,
    mixture: Mixture,
    tables: FloatArray,
    memory: PointMemory,
) -> FloatArray:
    """Return how many points have each arm on top, (n, k)."""
    odds = np.zeros(counts.shape)
    for u in range(len(counts)):
        some = allowed[u if len(allowed) > 1 else 0]
        draw_points(counts[u], sums[u], some, sigma, mixture, tables, memory)
        for i in range(len(memory.top)):
            odds[u, memory.top[i]] += 1.0
    return odds
