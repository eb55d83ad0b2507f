r"""Means over users, and their standard errors, added up block by block.

Means and squared deviations Q of regret are added in the order of blocks, so that chunks of users
change no bit. Two groups A and B join by

.. math:: \bar x = \bar x_A + \delta \tfrac{n_B}{n}, \qquad
          Q = Q_A + Q_B + \delta^2 \tfrac{n_A n_B}{n}, \qquad \delta = \bar x_B - \bar x_A.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, fraction
from lobandits.basics.kernel import kernel
from lobandits.simulation.streams import BLOCK

BATCH = 32  # rounds that are simulated, or summed up, at a time
ROWS = ("mean", "squares", "cumulative_mean", "cumulative_squares")


class Curve(NamedTuple):
    """A mean over users at every round, and its standard error."""

    mean: FloatArray
    error: FloatArray


@dataclass
class Moments:
    """Regret of the users so far: ``table`` has shape (4, horizon), see ``ROWS``."""

    count: int
    table: FloatArray

    @classmethod
    def empty(cls, horizon: int) -> "Moments":
        """Return the moments of no users."""
        return cls(0, np.zeros((len(ROWS), horizon)))

    @classmethod
    def of(cls, regret: FloatArray) -> "Moments":
        """Return the moments of regret (n_users, horizon)."""
        n_users, horizon = regret.shape
        totals, blocks = np.zeros(n_users), empty_blocks(n_users, horizon)
        for start in range(0, horizon, BATCH):
            rounds = np.ascontiguousarray(regret[:, start : start + BATCH].T)
            sum_up_blocks(rounds, totals, blocks, start, BLOCK)
        moments = cls.empty(horizon)
        moments.add(blocks, n_users)
        return moments

    def add(self, blocks: FloatArray, n_users: int) -> None:
        """Add the blocks of the next ``n_users`` users."""
        sizes = np.full(len(blocks), BLOCK)
        sizes[-1] = n_users - BLOCK * (len(blocks) - 1)
        self.count = int(join_blocks(self.count, self.table, sizes, blocks))

    def curve(self, cumulative: bool) -> Curve:
        """Return the mean at every round; the error of a single user is nan."""
        mean, squares = self.table[2:] if cumulative else self.table[:2]
        if self.count < 2:
            return Curve(mean, np.full_like(mean, np.nan))
        return Curve(mean, np.sqrt(squares / (self.count - 1) / self.count))


def empty_blocks(n_users: int, horizon: int) -> FloatArray:
    """Return room for the moments of each block: (n_blocks, 4, horizon)."""
    return np.zeros((-(-n_users // BLOCK), len(ROWS), horizon))


@kernel
def sum_up_blocks(
    regret: FloatArray, totals: FloatArray, blocks: FloatArray, start: int, size: int
) -> None:
    """Write the moments of rounds from ``start``; ``totals`` has each user's regret so far.

    ``regret`` is (rounds, n_users). Cost: O(rounds * n_users).
    """
    rounds, n_users = regret.shape
    for t in range(rounds):
        for block in range(len(blocks)):
            low = block * size
            high = min(low + size, n_users)
            once, ever = 0.0, 0.0
            for user in range(low, high):
                totals[user] += regret[t, user]
                once += regret[t, user]
                ever += totals[user]
            once /= high - low
            ever /= high - low
            squares_once, squares_ever = 0.0, 0.0
            for user in range(low, high):
                squares_once += (regret[t, user] - once) ** 2
                squares_ever += (totals[user] - ever) ** 2
            blocks[block, 0, start + t] = once
            blocks[block, 1, start + t] = squares_once
            blocks[block, 2, start + t] = ever
            blocks[block, 3, start + t] = squares_ever


@kernel
def join_blocks(count: int, table: FloatArray, sizes: IntArray, blocks: FloatArray) -> int:
    """Add blocks of users, in order, to ``table`` of ``count`` users; return the new count.

    After each block, ``table`` has the moments of all users so far. Cost: O(blocks * horizon).
    """
    horizon = table.shape[1]
    for block in range(len(sizes)):
        size = sizes[block]
        total = count + size
        for row in range(0, 4, 2):
            for t in range(horizon):
                delta = blocks[block, row, t] - table[row, t]
                table[row, t] += delta * size / total
                table[row + 1, t] += blocks[block, row + 1, t] + delta**2 * count * size / total
        count = total
    return count


@dataclass(frozen=True)
class Difference:
    """The mean over users of one policy's total regret minus another's."""

    policy: str
    other: str
    mean: float
    error: float
    low: float
    high: float
    level: float
    n_users: int

    def __str__(self) -> str:
        return (
            f"{self.policy} - {self.other}: {self.mean:.4g} +- {self.error:.2g}, "
            f"{self.level:.0%} interval {self.low:.4g} to {self.high:.4g} ({self.n_users} users)"
        )


def mean_difference(policy: str, other: str, pairs: FloatArray, level: float) -> Difference:
    """Return the mean of the users' differences, in an interval of Student's."""
    from scipy.special import stdtrit

    level = fraction("level", level)
    n = len(pairs)
    mean = float(pairs.mean())
    error = float(pairs.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    wide = error * float(stdtrit(n - 1, (1 + level) / 2)) if n > 1 else float("nan")
    return Difference(policy, other, mean, error, mean - wide, mean + wide, level, n)
