r"""Each arm's mean for itself, from a normal prior: nothing is learned of one arm from another.

.. math:: \frac{1}{v_a} = \frac{1}{v_0} + \frac{N_a}{\sigma^2}, \qquad
          m_a = v_a \Big( \frac{m_0}{v_0} + \frac{\sum r}{\sigma^2} \Big)
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray


class ArmPrior(NamedTuple):
    """The prior of each arm's mean."""

    sigma: float
    mean: FloatArray  # (k,): m_0
    plays: FloatArray  # (k,): how many rewards it is worth, sigma^2 / v_0


def arm_posterior(
    counts: IntArray | FloatArray, sums: FloatArray, prior: ArmPrior
) -> tuple[FloatArray, FloatArray]:
    """Return mean and standard deviation of every arm's mean, (n_users, n_arms) each.

    With h = 1 / sqrt(N + sigma^2 / v_0): m = m_0 + h^2 (sum r - N m_0), sqrt(v) = h sigma.
    """
    shrink = 1.0 / np.sqrt(counts + prior.plays)
    means = prior.mean + shrink * shrink * (sums - counts * prior.mean)
    return means, shrink * prior.sigma
