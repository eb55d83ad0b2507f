r"""Rewards that are counts, 0, 1, 2, ...: :math:`g(\eta) = e^\eta`, log rates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs.likelihood import FAR, Likelihood


@dataclass(frozen=True)
class Poisson(Likelihood):
    r"""Counts of the rate :math:`g(\eta)`; tastes are log rates.

    Examples
    --------
    >>> Poisson().mean(np.log([0.5, 2.0]))
    array([0.5, 2. ])
    """

    name: ClassVar[str] = "poisson"

    def mean(self, eta: FloatArray) -> FloatArray:
        """Return the rates."""
        rate: FloatArray = np.exp(np.minimum(eta, 2.0 * FAR))
        return rate

    def slope(self, eta: FloatArray) -> FloatArray:
        """Return the rates: exp is its own slope."""
        return self.mean(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the logs of rates."""
        log: FloatArray = np.log(mean)
        return log

    def noise(self, mean: FloatArray) -> FloatArray:
        """Return the rates: the variance of a count is its mean."""
        return mean

    def log_density(self, counts: FloatArray, sums: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the log chance of a cell's counts, without their factorials."""
        return sums * eta - counts * self.mean(eta)

    def expected(self, f: object, e: FloatArray, v: FloatArray) -> FloatArray:
        """Return E exp(eta), the mean and the slope alike, in closed form."""
        return self.mean(e + 0.5 * v)

    def expected_log_density(
        self, counts: FloatArray, sums: FloatArray, e: FloatArray, v: FloatArray
    ) -> FloatArray:
        """Return E log p(rewards | eta), in closed form."""
        return sums * e - counts * self.mean(e + 0.5 * v)

    def draw(self, means: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw one count for each rate."""
        return rng.poisson(means).astype(np.float64)

    def fault(self, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> str:
        """Return why some rewards are no counts: below 0, or no whole numbers."""
        below = sums < 0
        if below.any():
            average = float((sums[below] / counts[below])[0])
            return (
                f"poisson rewards are counts, 0, 1, 2, ..., and some average is {average:.4g}; "
                "take likelihood='gaussian'"
            )
        whole = (counts % 1 == 0).all()
        if whole and (np.abs(sums - np.round(sums)) > 1e-6).any():
            part = float(sums[np.abs(sums - np.round(sums)) > 1e-6][0])
            return (
                f"poisson rewards are whole numbers, and some add up to {part:.6g}; take "
                "likelihood='gaussian'"
            )
        return ""
