"""What any good policy must pay, why, and for which arms."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lobandits._checks import FloatArray, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LowerBound:
    """Regret of at least ``constant`` * log T, asymptotically, for every uniformly good policy.

    Attributes
    ----------
    kind
        ``"lob"`` (orders known), ``"lb"`` (states' means known) or ``"mab"`` (nothing known).
    constant
        Regret per log T: the sum of ``allocation`` times the gaps.
    allocation
        (k,) plays per log T that each arm needs for information; the best arm has 0.
    gap, rounds
        The exact constant is certified to be at least (1 - gap) * ``constant``, by so many linear
        programs.
    note
        Where the bound comes from, or why it is 0.
    means, arms
        The instance, and its arms' names.
    state, top, instance
        The state that accounts for most of the bound, if any; the arm that is best in it; and its
        closest confusing instance lambda (k,), in the limit where ``top`` meets the best arm.
    """

    kind: str
    constant: float
    allocation: FloatArray
    gap: float
    rounds: int
    note: str
    means: FloatArray
    arms: tuple[str, ...]
    state: int | None = None
    top: int | None = None
    instance: FloatArray | None = None

    def regret(self, horizon: int) -> float:
        """Return constant * log(horizon), the bound's leading term."""
        return self.constant * math.log(whole("horizon", horizon))

    def plot(self) -> "Figure":
        """Draw the means against the closest confusing instance, and the allocation."""
        from lobandits.theory.lower_bound_plot import plot_bounds

        return plot_bounds([self])

    def __str__(self) -> str:
        lines = [f"{self.kind.upper()} lower bound: regret >= {self.constant:.4g} log T", self.note]
        played = [a for a in (-self.allocation).argsort(kind="stable") if self.allocation[a] > 0]
        if played:
            plays = ", ".join(f"{self.arms[a]} {self.allocation[a]:.3g}" for a in played)
            lines.append(f"plays per log T for information: {plays}")
        if self.instance is not None:
            pairs = zip(self.arms, self.means, self.instance, strict=True)
            moved = ", ".join(f"{arm} {mu:.4g} -> {to:.4g}" for arm, mu, to in pairs if to != mu)
            lines.append(f"closest confusing instance: {moved}")
        if self.gap > 1e-6:
            lines.append(f"certified to a relative gap of {self.gap:.1g} only")
        return "\n".join(lines)
