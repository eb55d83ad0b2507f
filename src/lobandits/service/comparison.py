r"""The difference between two groups of users, with a band that holds at all times together.

A user is one number :math:`y_i`, the mean of its first rewards, and is counted once, when it has
them. Of :math:`n = n_1 + n_0` users counted so far, with means :math:`\bar y_g` and variances
:math:`s_g^2`, the difference and its band are

.. math::

    \bar y_1 - \bar y_0 \pm \sqrt{\frac{s_1^2}{n_1} + \frac{s_0^2}{n_0}}\;
    \sqrt{2 \Big(1 + \frac{1}{n r}\Big) \log \frac{\sqrt{1 + n r}}{\alpha}}.

This is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas
("Time-uniform central limit theory and asymptotic confidence sequences", 2021), from the normal
mixture of Robbins: the chance that the band ever misses the true difference is about
:math:`\alpha`, however often and whenever one looks and stops. It assumes that users come
to their groups at random, and that the group changes neither whether nor when a user is counted.
Where users change over time, the true difference is that of the users counted so far.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray

ALPHA = 0.05
BEST_AT = 2_000  # users of both groups at which the band is narrowest, for its number of users
FEWEST_USERS = 50  # of a group
LARGEST_PART = 0.05  # of a group's sum of squares that one user may make up


class UserSums(NamedTuple):
    """Sums over the users counted up to each time, (2, n_times) each: the model's, the control's.

    ``squares`` are of the distances from ``centre``, which may be any number near the means.
    """

    users: FloatArray
    total: FloatArray
    squares: FloatArray
    least: FloatArray
    most: FloatArray
    centre: float = 0.0

    @property
    def means(self) -> FloatArray:
        """The mean of each group; NaN without users."""
        return self.total / np.where(self.users > 0, self.users, np.nan)

    @property
    def deviations(self) -> FloatArray:
        """The sum of squared distances from each group's mean."""
        below = self.users * (self.means - self.centre) ** 2
        return np.maximum(self.squares - below, 0.0)


class Band(NamedTuple):
    """The difference of the groups' means at each time, and its band; (n_times,) each.

    NaN without users in both groups. The band is infinite while there are too few for a limit
    theorem: under 50 in a group, or one that makes up a twentieth of its group's variance.
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray


def difference_band(sums: UserSums, alpha: float = ALPHA) -> Band:
    """Return the difference of the groups' means at each time, with its confidence sequence."""
    means, deviations = sums.means, sums.deviations
    difference = means[0] - means[1]
    variances = deviations / np.maximum(sums.users - 1, 1)
    errors = np.sqrt((variances / np.maximum(sums.users, 1)).sum(axis=0))
    half = errors * boundary(sums.users.sum(axis=0), alpha)
    half = np.where(_is_normal(sums, means, deviations), half, np.inf)
    return Band(difference, difference - half, difference + half)


def boundary(users: FloatArray, alpha: float) -> FloatArray:
    """Return how many standard errors wide each side is, after so many users."""
    level = -2.0 * np.log(alpha)
    scaled = np.maximum(users, 1) * (level + np.log(level) + 1.0) / BEST_AT
    width: FloatArray = np.sqrt((1.0 + 1.0 / scaled) * (np.log1p(scaled) + level))
    return width


def _is_normal(sums: UserSums, means: FloatArray, deviations: FloatArray) -> BoolArray:
    """Whether both groups have enough users, and none that outweighs the others."""
    largest = np.fmax(sums.most - means, means - sums.least) ** 2
    spread = (deviations > 0) & (largest <= LARGEST_PART * deviations)
    return np.asarray((spread & (sums.users >= FEWEST_USERS)).all(axis=0))
