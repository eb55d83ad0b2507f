r"""Optimism: the largest upper confidence bound :math:`\hat\mu_a + \sqrt{w \log t / N_a}`.

t is one more than the user's plays; an arm never played has the bounds -inf and inf.
"""

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray


def upper_bounds(counts: IntArray | FloatArray, sums: FloatArray, width: float) -> FloatArray:
    """Return the upper bound of every arm's mean, (n_users, n_arms)."""
    means, reach = means_and_reach(counts, sums, width)
    means += reach
    means[counts == 0] = np.inf
    return means


def confidence_bounds(
    counts: IntArray | FloatArray, sums: FloatArray, width: float
) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bound of every arm's mean, (n_users, n_arms) each."""
    means, reach = means_and_reach(counts, sums, width)
    low, up, unplayed = means - reach, means + reach, counts == 0
    low[unplayed], up[unplayed] = -np.inf, np.inf
    return low, up


def means_and_reach(
    counts: IntArray | FloatArray, sums: FloatArray, width: float
) -> tuple[FloatArray, FloatArray]:
    """Return means and how far bounds are from them; nan and inf where an arm was never played."""
    scale = width * np.log(counts.sum(axis=1, keepdims=True) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sums / counts, np.sqrt(scale / counts)
