"""MixTS: Thompson sampling with a mixture prior, after Hong et al. (2022)."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, whole
from lobandits.beliefs.cells import settled_cells
from lobandits.beliefs.points import Mixture, make_mixture, points_of_users
from lobandits.policies.explanation import Details
from lobandits.policies.prior_policy import PriorPolicy, by_features
from lobandits.statistics import State

BLOCK = 2**21  # numbers of points that are worked on at a time


@dataclass(frozen=True)
class MixTS(PriorPolicy):
    r"""Play each arm with the chance that it is the best under the posterior of a prior.

    .. math:: \pi_a = P(\eta_a = \max_b \eta_b \mid \mathrm{rewards}),

    over points of the posterior, so that the propensities are exact. With one state this is
    Thompson sampling with a prior learned from logs (empirical Bayes).

    Parameters
    ----------
    prior
        As in `LobBayes`.
    n_points
        Points of the posterior.

    Examples
    --------
    >>> from lobandits.beliefs import Gaussian, Prior
    >>> prior = Prior(["a", "b"], [1.0], [[4.0, 0.0]], [[0.5], [0.5]], [1, 1], [0], Gaussian(1))
    >>> policy = MixTS(prior)
    >>> policy.probabilities(policy.start()).round(1)
    array([[1., 0.]])
    """

    name = "mixts"
    style = ("#44aa99", "dashed", "v")
    n_points: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(n_points=whole("n_points", self.n_points))

    @cached_property
    def _mixture(self) -> Mixture:
        return make_mixture(self._prior.components, None, 0.0)

    def odds(self, state: State, allowed: BoolArray) -> FloatArray:
        """Return the share of points with each allowed arm on top."""
        odds, lifts = np.zeros(state.counts.shape), self.lifts(state)
        size = max(1, BLOCK // (self.n_arms * self.n_points))
        for first in range(0, len(odds), size):
            some = slice(first, first + size)
            sets = allowed[some] if len(allowed) > 1 else allowed
            counts = state.counts[some].astype(np.float64)
            cells = settled_cells(
                counts,
                state.sums[some],
                self._prior.likelihood,
                self._mixture.components,
                None if lifts is None else lifts[some],
            )
            _, top, _ = points_of_users(counts, cells, sets, self._mixture, self.n_points)
            users = np.arange(first, first + len(top))
            np.add.at(odds, (users[:, None], top), 1.0)
        return odds

    def state_posterior(self, state: State) -> FloatArray:
        """Return the chance of each state."""
        return self._prior.posterior(state.counts, state.sums, state.features)[0]

    def details(self, state: State, allowed: BoolArray) -> Details:
        """Return the posterior means, and the chances of the states."""
        chances, means, _ = self._prior.posterior(state.counts, state.sums, state.features)
        more, notes = by_features(self._prior, state)
        return Details({"posterior mean": means[0], **more}, {"chance": chances[0]}, notes)
