r"""What is recent of the rewards: faded sums, for models with a half-life.

A reward r of a decision made at time t adds :math:`g = 2^{(t - L) / h}` to the weight of its arm,
g r to the sum and :math:`g^2` to the squares, for the landmark L of an epoch: 64 half-lives, so
that moving it is an exact power of two. See `lobandits.statistics.fading`.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from lobandits.statistics.fading import STEP

EPOCH = int(STEP)  # half-lives
SHIFTS = 1.0, 2.0**-STEP  # of landmarks moved on by no epoch and by one; further, nothing is left


class Recent(NamedTuple):
    """Faded sums of an arm of a user, relative to the landmark of an epoch."""

    half_life: int  # microseconds
    epoch: int
    weight: float
    weighted: float
    squares: float

    def plus(self, other: "Recent") -> "Recent":
        """Return the sums of both; those of another half-life are replaced, as in the store."""
        if self.half_life != other.half_life:
            return other
        epoch = max(self.epoch, other.epoch)
        mine, theirs = _shift(epoch - self.epoch), _shift(epoch - other.epoch)
        return Recent(
            self.half_life,
            epoch,
            mine * self.weight + theirs * other.weight,
            mine * self.weighted + theirs * other.weighted,
            mine**2 * self.squares + theirs**2 * other.squares,
        )


def _shift(epochs: int) -> float:
    return SHIFTS[epochs] if epochs < len(SHIFTS) else 0.0


def recent_reward(half_life: int, time: int, reward: float) -> tuple[Any, ...]:
    """Return what a reward of a time adds, as the fields of `Recent`.

    Whole numbers are divided, so that a weight has all its digits, however far the landmark is.
    """
    epoch, rest = divmod(time, EPOCH * half_life)
    weight = 2.0 ** (rest / half_life)
    return half_life, epoch, weight, weight * reward, weight * weight


class Added:
    """What a transaction adds to the statistics, by user and arm: of all time, and faded."""

    def __init__(self) -> None:
        self._plain: dict[Any, tuple[int, float]] = {}
        self._fading: dict[Any, tuple[Any, ...]] = {}  # the same, and the fields of `Recent`

    def add(self, cell: Hashable, reward: float, time: int, half_life: int | None) -> None:
        """Count a reward of a time."""
        if half_life is None:
            count, total = self._plain.get(cell, (0, 0.0))
            self._plain[cell] = count + 1, total + reward
            return
        new, old = recent_reward(half_life, time, reward), self._fading.get(cell)
        if old is None:
            self._fading[cell] = 1, reward, *new
        else:
            count, total, *recent = old
            self._fading[cell] = count + 1, total + reward, *Recent(*recent).plus(Recent(*new))

    def plain(self) -> list[tuple[Any, ...]]:
        """Return (user, arm, plays, total) of what never fades."""
        return [(*cell, *sums) for cell, sums in self._plain.items()]

    def fading(self) -> list[tuple[Any, ...]]:
        """Return the same of what fades, with the columns of `Recent`."""
        return [(*cell, *sums) for cell, sums in self._fading.items()]
