"""The instance in the units in which the Graves-Lai program is solved."""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, positive
from lobandits.errors import LobInputError
from lobandits.theory.instance import rounding


class ScaledInstance(NamedTuple):
    """The instance in units in which mu* = 0 and the widest gap is 1.

    The program's variables are y_a = c_a / (2 (sigma / spread)^2), for ``others``, all arms but the
    best one; their scaled ``gaps`` are its prices.
    """

    means: FloatArray
    arms: tuple[str, ...]
    best: int
    others: BoolArray
    scaled: FloatArray
    gaps: FloatArray
    spread: float
    sigma: float

    def rows(self, instances: FloatArray) -> FloatArray:
        """Return the coefficients of y in the divergence from scaled instances (n, k)."""
        shift: FloatArray = (instances - self.scaled)[:, self.others]
        return shift * shift

    def widen(self, y: FloatArray) -> FloatArray:
        """Return y with 0 for the best arm: (k,)."""
        wide = np.zeros(len(self.means))
        wide[self.others] = y
        return wide

    @property
    def safe(self) -> FloatArray:
        """The y that is enough without any structure."""
        plan: FloatArray = 1.0 / self.gaps**2
        return plan


def scale_instance(mu: FloatArray, arms: tuple[str, ...], sigma: float) -> ScaledInstance:
    """Return the instance with its best arm at 0, or say why it has no lower bound."""
    std = positive("sigma", sigma)
    best = int(mu.argmax())
    tied = np.flatnonzero(mu >= mu[best] - rounding(mu))
    if len(tied) > 1:
        names = " and ".join(repr(arms[a]) for a in tied)
        raise LobInputError(
            f"arms {names} tie for the best mean ({mu[best]:g}); the lower bound is for an "
            "instance with one best arm (with a tie, log T regret may not be needed at all)"
        )
    others = np.arange(len(mu)) != best
    spread = float(mu[best] - mu.min()) if others.any() else 1.0
    scaled = (mu - mu[best]) / spread
    gaps = -scaled[others]
    finest = spread * float(gaps.min(initial=1.0))
    if not 0.0 < std / finest * (std / finest) < math.inf:
        raise LobInputError(
            f"sigma ({std:g}) and the smallest gap ({finest:g}) are too far apart in scale"
        )
    return ScaledInstance(mu, arms, best, others, scaled, gaps, spread, std)
