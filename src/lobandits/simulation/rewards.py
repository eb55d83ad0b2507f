r"""Distributions of rewards: a reward is made of one standard normal number z.

* gaussian:  :math:`r = \mu + \sigma z`
* clipped:   :math:`r = \min(\max(x + \sigma z, l), h)`, like a rating
* bernoulli: :math:`r = 1[z < \Phi^{-1}(\mu)]`, one with probability :math:`\mu`
* poisson:   :math:`r = \min \{n : z \le \Phi^{-1}(F_\mu(n))\}`, a count of rate :math:`\mu`

All but counts are sub-Gaussian: with parameter sigma (clipping is a contraction), Bernoulli with
1/2.
"""

import math

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray, ends, one_of
from lobandits.basics.kernel import kernel
from lobandits.errors import LobInputError

KINDS = ("gaussian", "clipped", "bernoulli", "poisson")
ADDED, BINARY, COUNTED = range(3)  # how `pay` makes a reward of its noise
WAYS = {"bernoulli": BINARY, "poisson": COUNTED}
Bounds = tuple[float, float]


def expected_rewards(
    kind: str, location: FloatArray, sigma: float, bounds: Bounds | None
) -> FloatArray:
    """Return the means of rewards whose noise is added to ``location``."""
    one_of("rewards", kind, KINDS)
    if kind == "clipped":
        return clipped_mean(location, sigma, checked_bounds(bounds))
    if kind == "bernoulli" and not ((location >= 0) & (location <= 1)).all():
        raise LobInputError("the means of Bernoulli rewards must lie between 0 and 1")
    if kind == "poisson" and not (location >= 0).all():
        raise LobInputError(f"the means of counts must not be negative, got {location.min():g}")
    return location


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


def checked_bounds(bounds: Bounds | None) -> Bounds:
    """Return (lowest, highest) as floats."""
    if bounds is None:
        raise LobInputError("clipped rewards need bounds=(lowest, highest)")
    lowest, highest = ends("bounds", bounds)
    if lowest >= highest:
        raise LobInputError(f"bounds must increase, got {bounds!r}")
    return lowest, highest


def resampled(noise: FloatArray, residuals: FloatArray, sigma: float) -> FloatArray:
    """Return a residual for each standard normal number, the quantile at its place, over sigma.

    >>> resampled(np.array([-2.0, 0.1, 2.0]), np.array([3.0, -1.0]), 2.0)
    array([-0.5,  1.5,  1.5])
    """
    from scipy.special import ndtr

    places = (ndtr(noise) * len(residuals)).astype(np.int64)
    drawn: FloatArray = np.sort(residuals)[np.minimum(places, len(residuals) - 1)] / sigma
    return drawn


def noise_location(kind: str, means: FloatArray, location: FloatArray | None) -> FloatArray:
    """Return what `pay` compares with, or adds to, its noise."""
    if kind == "bernoulli":
        from scipy.special import ndtri

        return np.asarray(ndtri(means), dtype=np.float64)
    return means if location is None else location


@kernel
def count_at(rate: float, z: float) -> float:
    """Return the quantile of a count of this rate at the place of a standard normal number.

    ``total`` is the chance of at most n; n stops some ten deviations out. Cost: O(rate).
    """
    below = 0.5 * math.erfc(-z / math.sqrt(2.0))
    most = rate + 10.0 * math.sqrt(rate) + 20.0
    n, total = 0.0, math.exp(-rate)
    while total < below and n < most:
        n += 1.0
        total += math.exp(n * math.log(rate) - rate - math.lgamma(n + 1.0))
    return n


@kernel
def pay(
    arms: IntArray,
    noise: FloatArray,
    location: FloatArray,
    gaps: FloatArray,
    sigma: float,
    lowest: float,
    highest: float,
    way: int,
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
        if way == BINARY:
            rewards[user] = 1.0 if noise[user] < location[user, arm] else 0.0
        elif way == COUNTED:
            rewards[user] = count_at(location[user, arm], noise[user])
        else:
            value = location[user, arm] + sigma * noise[user]
            rewards[user] = min(max(value, lowest), highest)
        regret[user] = gaps[user, arm]
    return -1
