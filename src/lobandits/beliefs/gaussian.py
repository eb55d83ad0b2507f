r"""Gaussian rewards: :math:`g(\eta) = \eta`, with the same noise whatever the taste."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, finite_array, positive
from lobandits.beliefs.likelihood import Likelihood
from lobandits.errors import LobInputError


@dataclass(frozen=True)
class Gaussian(Likelihood):
    r"""Rewards :math:`N(\eta, \sigma_a^2)`: a cell is its average, with the variance sigma^2 / n.

    Parameters
    ----------
    sigma : float, or (k,)
        Standard deviation of a reward; one for each arm where arms' noise differs.

    Examples
    --------
    >>> Gaussian(2.0).noise(np.zeros(3))
    array([4., 4., 4.])
    """

    name: ClassVar[str] = "gaussian"
    exact: ClassVar[bool] = True
    sigma: float | FloatArray

    def __post_init__(self) -> None:
        if np.ndim(self.sigma) == 0:
            self._set(sigma=positive("sigma", self.sigma))  # type: ignore[arg-type]
            return
        sigma = finite_array("sigma", self.sigma, ndim=1)
        if not len(sigma) or (sigma <= 0).any():
            raise LobInputError(f"sigma must be positive for each arm, got {sigma.tolist()}")
        self._set(sigma=sigma)

    def mean(self, eta: FloatArray) -> FloatArray:
        """Return the tastes themselves."""
        return eta

    def slope(self, eta: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones_like(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the means themselves."""
        return mean

    def noise(self, mean: FloatArray) -> FloatArray:
        """Return sigma^2, by arm."""
        return np.broadcast_to(np.square(self.sigma), np.shape(mean)).astype(np.float64)

    def log_density(self, counts: FloatArray, sums: FloatArray, eta: FloatArray) -> FloatArray:
        """Return the log density of averages; arms must have one sigma."""
        variance = np.square(self.sigma) / counts
        log: FloatArray = -0.5 * ((sums / counts - eta) ** 2 / variance + np.log(variance))
        return log

    def draw(self, means: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw one reward for each mean."""
        return means + self.sigma * rng.standard_normal(np.shape(means))

    def fault(self, counts: FloatArray, sums: FloatArray, squares: FloatArray) -> str:
        """Return "": any finite rewards may be Gaussian."""
        return ""

    def first_cells(
        self, counts: FloatArray, sums: FloatArray, arms: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return averages, and sigma^2 / n."""
        sigma: Any = self.sigma
        square = np.square(sigma if np.ndim(sigma) == 0 else sigma[arms])
        return sums / counts, square / counts

    def with_arm(self, like: int | None) -> "Gaussian":
        """Return the likelihood with one more arm, as noisy as another, or as arms on average."""
        if np.ndim(self.sigma) == 0:
            return self
        sigma: Any = self.sigma
        new = np.sqrt(np.mean(sigma**2)) if like is None else sigma[like]
        return Gaussian(np.append(sigma, new))
