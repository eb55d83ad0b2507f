"""StatesChoice: how well orders of different numbers of states served held-out users."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lobandits._checks import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADERS = ("states", "found", "distance", "+-", "regret", "+-")


@dataclass(frozen=True, eq=False)
class StatesChoice:
    """Held-out distances and regrets for a grid of m, and the m recommended.

    Parameters
    ----------
    grid : (g,)
        Numbers of states, increasing.
    found : (g,)
        How many were left after states of the same order were merged.
    distances : (g, n)
        Kendall's tau distance of each held-out user to the nearest order.
    regrets : (g, n)
        Each held-out user's regret of lobTS after ``horizon`` rounds.
    baseline : (n,)
        The same of TS, which knows no orders.
    horizon
        Rounds simulated.

    Examples
    --------
    >>> distances, regrets = np.array([[0.4, 0.3], [0.1, 0.2]]), np.array([[9.0, 8.0], [3.0, 4.0]])
    >>> numbers, baseline = np.array([1, 2]), np.array([7.0, 9.0])
    >>> StatesChoice(numbers, numbers, distances, regrets, baseline, horizon=50)
      states   found   distance      +-     regret      +-
           1       1     0.3500  0.0500       8.50    0.50
           2       2     0.1500  0.0500       3.50    0.50  recommended
    2 held-out users, 50 rounds; regret of lobTS. Without orders, TS: 8.00 +- 1.00
    """

    grid: IntArray
    found: IntArray
    distances: FloatArray
    regrets: FloatArray
    baseline: FloatArray
    horizon: int

    @property
    def recommended(self) -> int:
        """The smallest m whose regret is within one standard error of the best's.

        The standard error is that of the mean difference to the best, user by user.
        """
        best = self.regrets[self.regrets.mean(axis=1).argmin()]
        mean, error = _mean_and_error(self.regrets - best)
        return int(self.grid[np.flatnonzero(mean <= error)[0]])

    @property
    def table(self) -> tuple[dict[str, Any], ...]:
        """One row for each m: means over the held-out users, and their standard errors."""
        distance, distance_error = _mean_and_error(self.distances)
        regret, regret_error = _mean_and_error(self.regrets)
        return tuple(
            {
                "n_states": int(self.grid[g]),
                "found": int(self.found[g]),
                "distance": float(distance[g]),
                "distance_error": float(distance_error[g]),
                "regret": float(regret[g]),
                "regret_error": float(regret_error[g]),
            }
            for g in range(len(self.grid))
        )

    def plot(self) -> "Figure":
        """Draw both measures over m, with bars of one standard error."""
        from lobandits.selection.plot import plot_choice

        return plot_choice(self)

    def __str__(self) -> str:
        lines = ["{:>8}{:>8}{:>11}{:>8}{:>11}{:>8}".format(*HEADERS)]
        for row in self.table:
            mark = "  recommended" if row["n_states"] == self.recommended else ""
            lines.append(
                "{n_states:8d}{found:8d}{distance:11.4f}{distance_error:8.4f}"
                "{regret:11.2f}{regret_error:8.2f}".format(**row)
                + mark
            )
        users, (mean, error) = self.regrets.shape[1], _mean_and_error(self.baseline[None])
        note = f"{users:,} held-out users, {self.horizon:,} rounds; regret of lobTS. Without "
        return "\n".join([*lines, note + f"orders, TS: {mean[0]:.2f} +- {error[0]:.2f}"])

    __repr__ = __str__


def _mean_and_error(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of each row and its standard error."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
