r"""Rewards of 0 or 1, as clicks and likes: :math:`g(\eta) = 1 / (1 + e^{-\eta})`, log odds."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.beliefs.likelihood import Likelihood


@dataclass(frozen=True)
class Bernoulli(Likelihood):
    r"""Rewards of 1 with the chance :math:`g(\eta)`, else 0; tastes are log odds.

    Examples
    --------
    >>> Bernoulli().mean(np.array([-1.0, 0.0, 1.0])).round(2)
    array([0.27, 0.5 , 0.73])
    """

    name: ClassVar[str] = "bernoulli"

    def mean(self, eta: FloatArray) -> FloatArray:
        """Return the chances of a 1."""
        half: FloatArray = 0.5 + 0.5 * np.tanh(0.5 * eta)
        return half

    def slope(self, eta: FloatArray) -> FloatArray:
        """Return p (1 - p)."""
        p = self.mean(eta)
        return p * (1.0 - p)

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the log odds of chances."""
        odds: FloatArray = np.log(mean) - np.log1p(-mean)
        return odds

    def noise(self, mean: FloatArray) -> FloatArray:
        """Return p (1 - p)."""
        return mean * (1.0 - mean)

    def log_density(self, counts: FloatArray, sums: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the log chance of a cell's rewards in their order."""
        log: FloatArray = sums * eta - counts * np.logaddexp(0.0, eta)
        return log

    def draw(self, means: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw one reward for each chance."""
        return (rng.random(np.shape(means)) < means).astype(np.float64)

    def fault(self, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> str:
        """Return why some rewards are neither 0 nor 1; squares of these are the rewards."""
        wrong = np.abs(squares - sums) > 1e-9 * (1.0 + np.abs(squares))
        wrong |= (sums < 0) | (sums > counts * (1.0 + 1e-9))
        if not wrong.any():
            return ""
        average = float((sums[wrong] / counts[wrong])[0])
        return (
            f"bernoulli rewards are 0 or 1, and {int(wrong.sum())} pairs of a user and an arm have "
            f"others, the first with an average of {average:.4g}; take likelihood='gaussian' (or "
            "'poisson' for counts), or make rewards 0 or 1"
        )
