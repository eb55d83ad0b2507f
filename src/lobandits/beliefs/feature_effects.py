r"""What features say of tastes: they move the prior's mean, and nothing else.

.. math:: E \eta_a = m_{sa} + (L W x)_a + (B x)_a

W moves the loadings, and so many arms together; B moves single arms. Both are learned with a
strength by evidence (`learning.feature_effects`), and may be 0.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lobandits.basics.checks import FloatArray, finite_array, real
from lobandits.basics.frozen import Frozen
from lobandits.beliefs.features import Features, Table
from lobandits.errors import LobInputError

CLEAR = 2.0  # standard errors of the gain, to speak of one


def _features(data: Any) -> Features:
    if not isinstance(data, dict):
        raise LobInputError(f"features must be an object, got {data!r:.80}")
    return Features(**Features._decoded(data, "the features"))


@dataclass(frozen=True)
class FeatureEffects(Frozen):
    """Features of users, and what they say of tastes.

    Parameters
    ----------
    features : Features
        How a table of them becomes x, of p columns.
    shared : (r, p)
        W: what x says of the loadings.
    single : (k, p)
        B: what x says of each arm alone.
    gain, error : float
        By how many nats a held-out user's rewards are foretold better with features than without,
        and the standard error of this.
    """

    features: Features = field(metadata={"decode": _features})
    shared: FloatArray
    single: FloatArray
    gain: float = 0.0
    error: float = 0.0

    def __post_init__(self) -> None:
        p = len(self.features.columns)
        for name in ("shared", "single"):
            raw = np.asarray(getattr(self, name), np.float64)
            effects = finite_array(f"features: {name}", raw.reshape(-1, p) if not raw.size else raw)
            if effects.ndim != 2 or effects.shape[1] != p:
                raise LobInputError(
                    f"features: {name} must have {p} columns, as x has, got {effects.shape}"
                )
            self._set(**{name: effects})
        self._set(gain=real("gain", self.gain), error=real("error", self.error))

    def checked(self, r: int, k: int) -> "FeatureEffects":
        """Return these effects, or refuse them for a prior of r loadings and k arms."""
        if len(self.shared) != r or len(self.single) != k:
            raise LobInputError(
                f"features: shared and single must have a row for each of {r} loadings and {k} "
                f"arms, got {len(self.shared)} and {len(self.single)}"
            )
        return self

    @cached_property
    def tell(self) -> bool:
        """Whether features say anything of tastes."""
        return bool(self.shared.any() or self.single.any())

    def encode(self, table: Table, n: int | None = None) -> FloatArray:
        """Return x of a table, (n, p); see `Features.encode`."""
        return self.features.encode(table, n)

    def by_column(self, loadings: FloatArray) -> FloatArray:
        """Return what each column of x adds to each taste, L W + B, (k, p)."""
        effects: FloatArray = loadings @ self.shared + self.single
        return effects

    def with_arm(self, like: int | None) -> "FeatureEffects":
        """Return the effects with one more arm, the last, like an arm or like the average."""
        row = self.single.mean(axis=0) if like is None else self.single[like]
        return self._with(single=np.vstack([self.single, row]))
