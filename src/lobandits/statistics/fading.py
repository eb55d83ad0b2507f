r"""Fading: recent rewards count more, once a user has changed. Nothing else knows of time.

With a half-life h, a reward of time t weighs :math:`2^{-(now - t) / h}` at the time now. Each arm
of a user has the sums of the weights g, of g r and of g^2, with weights that are taken at a
landmark instead of now: :math:`g = 2^{(t - L) / h}` (forward decay, Cormode et al. 2009). So they
add up in any order, and late rewards count with their own time. Landmarks lie 64 half-lives apart,
at :math:`L = 64 h \cdot epoch`, and an arm's is that of its latest reward; moving one is an exact
power of two.

Who fades without need explores for ever. So the sums of all time are kept beside these, and read as
long as both agree. If an arm's mean is the same all the time, its faded mean less its mean of all
n rewards has the variance :math:`\sigma^2 (\sum g^2 / (\sum g)^2 - 1 / n)`, exactly. A user has
*changed* if the square of that difference, of some arm, is more than `TRUST` times its variance.
All of this is read anew at every decision, O(k) for each user; nothing is carried along.

Times are counted in half-lives from 0 everywhere below: ``now`` is the time over h.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.statistics.rewards import add_rewards
from lobandits.statistics.state import State, array

TRUST = 16.0  # variances: by chance one look in 16,000 sees more
STEP = 64.0  # half-lives between landmarks
LEAST = 2.0**-400  # a reward that weighs less counts for nothing
EVEN = 1e-9  # of 1 / n: so little variance means that all rewards weigh the same
ROUNDING = 1e-12  # of the means


class FadedSums(NamedTuple):
    """What an arm's rewards weigh at its landmark, each (n_users, n_arms)."""

    weights: FloatArray  # the sum of g
    weighted: FloatArray  # of g r
    squares: FloatArray  # of g^2
    epochs: FloatArray  # the landmark, in steps of 64 half-lives

    def take(self, users: IntArray) -> "FadedSums":
        """Return a copy of the sums of some users."""
        return FadedSums._make(part[users] for part in self)


def weigh(times: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the epoch of each time, and what its reward weighs there: from 1 to 2^64."""
    epochs = np.floor(times / STEP)
    return epochs, np.exp2(times - epochs * STEP)


def faded_rewards(
    shape: tuple[int, int], users: IntArray, arms: IntArray, rewards: FloatArray, times: FloatArray
) -> FadedSums:
    """Return the faded sums of these rewards alone, for so many users and arms."""
    epoch, g = weigh(times)
    epochs = np.full(shape, -np.inf)
    np.maximum.at(epochs, (users, arms), epoch)
    g = g * np.exp2(STEP * (epoch - epochs[users, arms]))
    sums = np.zeros((3, *shape))
    for total, part in zip(sums, (g, g * rewards, g * g), strict=True):
        np.add.at(total, (users, arms), part)
    weights, weighted, squares = sums
    return FadedSums(weights, weighted, squares, np.where(np.isinf(epochs), 0.0, epochs))


def together(one: FadedSums, other: FadedSums) -> FadedSums:
    """Return the sums of both at the later of their landmarks."""
    mine = np.where(one.weights > 0, one.epochs, -np.inf)
    theirs = np.where(other.weights > 0, other.epochs, -np.inf)
    epochs = np.maximum(mine, theirs)
    epochs[np.isinf(epochs)] = 0.0
    a, b = np.exp2(STEP * (mine - epochs)), np.exp2(STEP * (theirs - epochs))
    return FadedSums(
        a * one.weights + b * other.weights,
        a * one.weighted + b * other.weighted,
        a * a * one.squares + b * b * other.squares,
        epochs,
    )


def faded(sums: FadedSums, now: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return what arms weigh and their weighted sums at each user's time, (n_users, n_arms)."""
    factor = np.exp2(STEP * sums.epochs - now[:, None])
    weights = sums.weights * factor
    kept = weights >= LEAST
    return np.where(kept, weights, 0.0), np.where(kept, sums.weighted * factor, 0.0)


def doubts(counts: IntArray, totals: FloatArray, sums: FadedSums) -> FloatArray:
    r"""Return the squared difference of arms' faded and plain means, over its variance at sigma 1.

    With counts n, totals s, weights w, weighted sums v and squares q it is
    :math:`(v n - s w)^2 / (n (q n - w^2))`.
    """
    n, w = counts.astype(np.float64), sums.weights
    recent, ever = sums.weighted * n, totals * w
    gap, spread = np.abs(recent - ever), sums.squares * n - w * w
    clear = (spread > EVEN * w * w) & (gap > ROUNDING * (np.abs(recent) + np.abs(ever)))
    doubt = np.zeros(w.shape)
    np.divide(gap * gap, n * spread, out=doubt, where=clear)
    return doubt


def who_changed(
    counts: IntArray, totals: FloatArray, sums: FadedSums, limit: float | FloatArray
) -> BoolArray:
    """Tell which users have changed, (n_users,); all, where the limit is below 0."""
    changed: BoolArray = doubts(counts, totals, sums).max(axis=1) > limit
    return changed


def read(
    counts: IntArray, totals: FloatArray, sums: FadedSums, now: FloatArray, limit: float
) -> tuple[FloatArray, FloatArray]:
    """Return counts and sums as they tell of users now: of who has changed, as they have faded."""
    changed = np.flatnonzero(who_changed(counts, totals, sums, limit))
    seen, rewards = counts.astype(np.float64), totals.copy()
    if len(changed):
        seen[changed], rewards[changed] = faded(sums.take(changed), now[changed])
    return seen, rewards


@dataclass(eq=False, repr=False)
class FadingState(State):
    """Rewards of all time, and the faded sums beside them.

    Attributes
    ----------
    weights, weighted, squares, epochs : float64 (n_users, n_arms)
        As in `FadedSums`.
    clocks : float64 (n_users,)
        The time of the latest reward, in half-lives.
    half_lives : float64 (n_users,)
        The half-life, in plays or in the unit of the times that come with rewards.
    """

    weights: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    weighted: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    squares: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    epochs: FloatArray = field(metadata=array("memory", "arms", dtype=np.float64))
    clocks: FloatArray = field(metadata=array("memory", dtype=np.float64))
    half_lives: FloatArray = field(metadata=array("memory", dtype=np.float64))

    @property
    def faded(self) -> FadedSums:
        """The faded sums."""
        return FadedSums(self.weights, self.weighted, self.squares, self.epochs)

    @property
    def recent(self) -> FloatArray:
        """What rewards weigh at each user's latest, (n_users, n_arms), changed or not."""
        return faded(self.faded, self.clocks)[0]

    def changed(self, limit: float) -> BoolArray:
        """Tell which users have changed, (n_users,); see `who_changed`."""
        return who_changed(self.counts, self.sums, self.faded, limit)

    def read(self, limit: float) -> State:
        """Return what a policy sees: the state as it tells of users at their latest rewards."""
        counts, sums = read(self.counts, self.sums, self.faded, self.clocks, limit)
        carries = np.zeros_like(sums)
        return State(counts, sums, carries, features=self.features)  # type: ignore[arg-type]

    def add(
        self, users: IntArray, arms: IntArray, rewards: FloatArray, times: FloatArray | None
    ) -> None:
        """Add rewards, in place; without times each is a play later than its user's last."""
        rows, who = np.unique(users, return_inverse=True)
        before = self.clocks[rows]
        if times is None:
            times = before[who] + (_numbers(who) + 1.0) / self.half_lives[users]
        else:
            times = times / self.half_lives[users]
        clocks = np.where(self.plays[rows] > 0, before, -np.inf)
        np.maximum.at(clocks, who, times)
        self.clocks[rows] = clocks
        new = faded_rewards((len(rows), self.n_arms), who, arms, rewards, times)
        for total, part in zip(self.faded, together(self.faded.take(rows), new), strict=True):
            total[rows] = part
        add_rewards(self.counts, self.sums, self.carries, users, arms, rewards)

    def merge(self, other: Self) -> Self:
        """Return the state after the rewards of both, whose clocks must be the same clock."""
        merged = super().merge(other)
        if not np.array_equal(self.half_lives, other.half_lives):
            raise LobInputError(
                f"cannot merge: the half-lives are {self.half_lives.tolist()} here and "
                f"{other.half_lives.tolist()} there"
            )
        for total, part in zip(merged.faded, together(self.faded, other.faded), strict=True):
            total[...] = part
        clocks = [np.where(part.plays > 0, part.clocks, -np.inf) for part in (self, other)]
        latest = np.maximum(*clocks)
        merged.clocks[:] = np.where(np.isinf(latest), 0.0, latest)
        merged.half_lives[:] = self.half_lives
        return merged

    def check(self) -> Self:
        """Refuse sums that no rewards have."""
        if (self.half_lives <= 0).any():
            raise LobInputError("half_lives must be positive")
        if (self.weights < 0).any() or (self.squares < 0).any():
            raise LobInputError("weights and squares must not be negative")
        if ((self.counts == 0) & (self.weights > 0)).any():
            raise LobInputError("weights must be 0 where counts is 0")
        return self


def _numbers(users: IntArray) -> FloatArray:
    """Return how many events before each are of the same user."""
    order = np.argsort(users, kind="stable")
    first = np.searchsorted(users[order], users[order])
    numbers = np.empty(len(users))
    numbers[order] = np.arange(len(users)) - first
    return numbers
