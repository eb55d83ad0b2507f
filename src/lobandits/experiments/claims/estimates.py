"""Estimates: means of paired differences, with Student's interval.

The mean d of n differences has the interval d -+ t(level, n - 1) standard errors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lobandits.experiments.parts import mean_and_error

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """The mean of paired differences that the claim says is positive.

    An error of 0 means an exact number, without an interval.
    """

    what: str
    mean: float
    error: float
    n: int

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Return Student's interval; endless for a single user."""
        from scipy.special import stdtrit

        if self.error == 0:
            return self.mean, self.mean
        if self.n < 2:
            return -np.inf, np.inf
        wide = self.error * float(stdtrit(self.n - 1, (1 + level) / 2))
        return self.mean - wide, self.mean + wide


def estimate(what: str, differences: ArrayLike) -> Estimate:
    """Return the estimate from one difference per user."""
    values = np.asarray(differences, dtype=np.float64)
    mean, error = mean_and_error(values)
    return Estimate(what, float(mean), float(error), len(values))


def share(what: str, hits: ArrayLike, above: float) -> Estimate:
    """Return by how much a share of trials exceeds a value, from one 0 or 1 per trial.

    Its error counts two hits and two misses more ("plus four", Agresti and Coull), so that
    trials that all end alike still leave a doubt.
    """
    values = np.asarray(hits, dtype=np.float64)
    n = len(values)
    p = (values.sum() + 2) / (n + 4)
    error = float(np.sqrt(p * (1 - p) / (n + 4)))
    return Estimate(what, float(values.mean()) - above, error, n)


def exactly(what: str, value: float) -> Estimate:
    """Return the estimate of a number that is known without error."""
    return Estimate(what, value, 0.0, 1)
