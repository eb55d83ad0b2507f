r"""What a block of eight users draws, earns and adds up to.

A block has one generator per stream, and draws round after round: every random number is a
function of (seed, stream, user, round). A reward is made of one standard normal number z:

* gaussian:  :math:`r = \mu + \sigma z`
* clipped:   :math:`r = \min(\max(x + \sigma z, l), h)`, like a rating
* bernoulli: :math:`r = 1[z < \Phi^{-1}(\mu)]`, one with probability :math:`\mu`

All are sub-Gaussian: with parameter sigma (clipping is a contraction), Bernoulli with 1/2.

Means and squared deviations Q of regret are added block by block, in order, so that chunks change
no bit. Two groups A and B join by

.. math:: \bar x = \bar x_A + \delta \tfrac{n_B}{n}, \qquad
          Q = Q_A + Q_B + \delta^2 \tfrac{n_A n_B}{n}, \qquad \delta = \bar x_B - \bar x_A.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits._checks import FloatArray, IntArray, ends, one_of
from lobandits._jit import kernel
from lobandits.errors import LobInputError

BLOCK = 8
KINDS = ("gaussian", "clipped", "bernoulli")
Bounds = tuple[float, float]
BATCH = 32  # rounds that are simulated, or summed up, at a time
ROWS = ("mean", "squares", "cumulative_mean", "cumulative_squares")


class Stream(IntEnum):
    """What a generator is for."""

    PROBLEMS = 0
    REWARDS = 1
    CHOICES = 2


def block_generator(seed: int, stream: Stream, block: int) -> np.random.Generator:
    """Return the generator of one block of users for one stream."""
    sequence = np.random.SeedSequence(seed, spawn_key=(int(stream), block))
    return np.random.Generator(np.random.SFC64(sequence))


def blocks_of(first: int, n: int) -> range:
    """Return the blocks in which users ``first`` to ``first + n - 1`` live."""
    return range(first // BLOCK, -(-(first + n) // BLOCK))


class Noise:
    """The numbers of consecutive rounds, for ``n`` users from a block's ``first`` on."""

    def __init__(
        self,
        draw: Callable[[np.random.Generator, tuple[int, ...]], NDArray[Any]],
        seed: int,
        stream: Stream,
        first: int,
        n: int,
    ) -> None:
        self._draw = draw
        self._n = n
        self._generators = [block_generator(seed, stream, b) for b in blocks_of(first, n)]

    def rounds(self, n_rounds: int) -> NDArray[Any]:
        """Return the next rounds' numbers (n_rounds, n, ...)."""
        shape = n_rounds, BLOCK
        numbers = np.concatenate([self._draw(rng, shape) for rng in self._generators], axis=1)
        if numbers.shape[:2] != (n_rounds, BLOCK * len(self._generators)):
            raise ValueError(f"draw(rng, {shape}) must return an array of that shape")
        return np.ascontiguousarray(numbers[:, : self._n])


def clipped_mean(location: FloatArray, sigma: float, bounds: Bounds) -> FloatArray:
    r"""Return :math:`E \min(\max(x + \sigma z, l), h)` for z standard normal."""
    lowest, highest = bounds
    raised = sigma * _mean_excess((lowest - location) / sigma)
    cut = sigma * _mean_excess((location - highest) / sigma)
    return np.asarray(np.clip(location + raised - cut, lowest, highest))


def _mean_excess(x: FloatArray) -> FloatArray:
    """Return E max(x - z, 0) for z standard normal."""
    from scipy.special import ndtr

    near = np.clip(x, -40.0, 40.0)  # farther out the density is 0, and its square may overflow
    return np.asarray(np.exp(-0.5 * near * near) / np.sqrt(2 * np.pi) + x * ndtr(x))


def expected_rewards(
    kind: str, location: FloatArray, sigma: float, bounds: Bounds | None
) -> FloatArray:
    """Return the means of rewards whose noise is added to ``location``."""
    one_of("rewards", kind, KINDS)
    if kind == "clipped":
        return clipped_mean(location, sigma, checked_bounds(bounds))
    if kind == "bernoulli" and not ((location >= 0) & (location <= 1)).all():
        raise LobInputError("the means of Bernoulli rewards must lie between 0 and 1")
    return location


def noise_location(kind: str, means: FloatArray, location: FloatArray | None) -> FloatArray:
    """Return what `pay` compares with, or adds to, its noise."""
    if kind == "bernoulli":
        from scipy.special import ndtri

        return np.asarray(ndtri(means), dtype=np.float64)
    return means if location is None else location


def checked_bounds(bounds: Bounds | None) -> Bounds:
    """Return (lowest, highest) as floats."""
    if bounds is None:
        raise LobInputError("clipped rewards need bounds=(lowest, highest)")
    lowest, highest = ends("bounds", bounds)
    if lowest >= highest:
        raise LobInputError(f"bounds must increase, got {bounds!r}")
    return lowest, highest


@kernel
def pay(
    arms: IntArray,
    noise: FloatArray,
    location: FloatArray,
    gaps: FloatArray,
    sigma: float,
    lowest: float,
    highest: float,
    binary: bool,
    rewards: FloatArray,
    regret: FloatArray,
) -> int:
    """Fill one round's rewards and regret; return the first user with an illegal arm, or -1.

    Nothing past an illegal arm is written. Cost: O(n_users).
    """
    n_users, n_arms = gaps.shape
    for user in range(n_users):
        arm = arms[user]
        if arm < 0 or arm >= n_arms:
            return user
        if binary:
            rewards[user] = 1.0 if noise[user] < location[user, arm] else 0.0
        else:
            value = location[user, arm] + sigma * noise[user]
            rewards[user] = min(max(value, lowest), highest)
        regret[user] = gaps[user, arm]
    return -1


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
    """Add blocks of users, in order, to ``table`` of ``count`` users; return the new count."""
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
