r"""What is recent of the rewards: faded sums, for models with a half-life.

A reward r of a decision made at time t adds :math:`g = 2^{(t - L) / h}` to the weight of its arm,
g r to the sum and :math:`g^2` to the squares, for the landmark L of an epoch: 64 half-lives, so
that moving it is an exact power of two. See `lobandits.policies.forgetting`.
"""

from collections.abc import Hashable
from typing import Any, NamedTuple

from lobandits.policies.forgetting import place, shift


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
        mine, theirs = shift(epoch - self.epoch), shift(epoch - other.epoch)
        return Recent(
            self.half_life,
            epoch,
            mine * self.weight + theirs * other.weight,
            mine * self.weighted + theirs * other.weighted,
            mine**2 * self.squares + theirs**2 * other.squares,
        )


NONE = Recent(0, 0, 0.0, 0.0, 0.0)


def recent_reward(half_life: int, time: int, reward: float) -> Recent:
    """Return what a reward of a time adds."""
    epoch, weight = place(float(time), float(half_life))
    return Recent(half_life, epoch, weight, weight * reward, weight * weight)


class Added:
    """What a transaction adds to the statistics, by user and arm: of all time, and faded."""

    def __init__(self) -> None:
        self._sums: dict[Any, tuple[int, float]] = {}
        self._recent: dict[Any, Recent] = {}

    def add(self, cell: Hashable, reward: float, time: int, half_life: int | None) -> None:
        """Count a reward of a time."""
        count, total = self._sums.get(cell, (0, 0.0))
        self._sums[cell] = count + 1, total + reward
        if half_life is not None:
            new = recent_reward(half_life, time, reward)
            old = self._recent.get(cell)
            self._recent[cell] = new if old is None else old.plus(new)

    def plain(self) -> list[tuple[Any, ...]]:
        """Return (user, arm, plays, total) of what never fades."""
        return [(*cell, *sums) for cell, sums in self._sums.items() if cell not in self._recent]

    def fading(self) -> list[tuple[Any, ...]]:
        """Return the same of what fades, with the columns of `Recent`."""
        return [(*cell, *self._sums[cell], *recent) for cell, recent in self._recent.items()]
