r"""What arms' features say of them: where a new arm starts.

.. math:: m_{sa} = \mu_s + (A y_a)_s + N(0, \tau_s^2), \qquad
          L_{aj} = c_j + (C y_a)_j + N(0, \tau_j^2)

with y the features of an arm as `Features` encodes them. Learned with strengths by evidence
(`learning.arm_effects`), which may be 0: then a new arm is as any.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, finite_array
from lobandits.basics.frozen import Frozen
from lobandits.beliefs.features import Features
from lobandits.errors import LobInputError
from lobandits.orders.contexts import BETWEEN

CONTEXT, ARM = "context", "arm"  # the features that an arm in a context has by its name


def _features(data: Any) -> Features:
    if not isinstance(data, dict):
        raise LobInputError(f"arm_features: features must be an object, got {data!r:.80}")
    return Features(**Features._decoded(data, "the features of arms"))


@dataclass(frozen=True)
class ArmEffects(Frozen):
    """Features of arms, and what they say of means and loadings.

    Parameters
    ----------
    features : Features
        How what is known of an arm becomes y, of q columns.
    average : (m + r,)
        mu, then c: of each state's means, then of each loading.
    effects : (m + r, q)
        A, then C.
    left : (m + r,)
        The variances that arms differ by beyond their features.
    """

    features: Features = field(metadata={"decode": _features})
    average: FloatArray
    effects: FloatArray
    left: FloatArray

    def __post_init__(self) -> None:
        average = finite_array("arm_features: average", self.average, ndim=1)
        effects = finite_array("arm_features: effects", self.effects, ndim=2)
        left = finite_array("arm_features: left", self.left, ndim=1)
        shape = len(average), len(self.features.columns)
        if effects.shape != shape or left.shape != average.shape or (left < 0).any():
            raise LobInputError(
                f"arm_features: effects must have the shape {shape} and left {len(average)} "
                f"numbers that are not negative, got {effects.shape} and {left.tolist()!s:.60}"
            )
        self._set(average=average, effects=effects, left=left)

    def checked(self, m: int, r: int) -> "ArmEffects":
        """Return these effects, or refuse them for a prior of m states and r loadings."""
        if len(self.average) != m + r:
            raise LobInputError(
                f"arm_features: average must have a number for each of {m} states and {r} "
                f"loadings, got {len(self.average)}"
            )
        return self

    def of(self, known: dict[str, Any]) -> FloatArray:
        """Return what is expected of an arm of which this is known: means, then loadings."""
        expected: FloatArray = self.average + self.effects @ self.features.encode([known])[0]
        return expected

    def by_name(self, name: str) -> dict[str, Any] | None:
        """Return what an arm's name tells, where it is that of an arm in a context."""
        context, between, arm = name.partition(BETWEEN)
        if not between or CONTEXT not in self.features.names:
            return None
        return {CONTEXT: context, ARM: arm}

    def shares(self) -> dict[str, float]:
        """Return by feature its share of what arms' average means vary by."""
        m = len(self.average)
        features, by = self.features, self.effects[:m]
        parts = {
            one.name: float(np.einsum("si,ij,sj->", by[:, at], one.covariance, by[:, at]))
            for one, at in zip(features.all, features.places.values(), strict=True)
        }
        total = max(sum(parts.values()) + float(self.left[:m].sum()), 1e-300)
        return {name: part / total for name, part in parts.items()}
