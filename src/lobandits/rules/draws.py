r"""Draws: the chance that an arm's posterior draw is the largest.

For independent :math:`X_a \sim N(m_a, v_a)` it is
:math:`\int p_a(x) \prod_{b \ne a} P(X_b < x) \, dx`, by quadrature.
"""

import math

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel

TAIL = 7.0  # standard deviations beyond which a density, or what is above, vanishes


def largest_draw(
    means: FloatArray, stds: FloatArray, noise: FloatArray, allowed: BoolArray
) -> IntArray:
    """Return each user's allowed arm of the largest draw, from standard normal ``noise``."""
    chosen: IntArray = np.where(allowed, means + stds * noise, -np.inf).argmax(axis=1)
    return chosen


def largest_draw_odds(means: FloatArray, stds: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return the chances of `largest_draw` over its noise, (n_users, n_arms), to about 1e-9."""
    odds = np.zeros(means.shape)
    for u in range(len(means)):
        some = allowed[u if len(allowed) > 1 else 0]
        odds[u, some] = chances_of_largest(means[u, some], stds[u, some], *RULE)
    return odds


def _rule(nodes: int) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss-Legendre quadrature on [0, 1]."""
    at, weights = np.polynomial.legendre.leggauss(nodes)
    return (at + 1) / 2, weights / 2


RULE = _rule(10)


@kernel
def chances_of_largest(
    means: FloatArray, stds: FloatArray, nodes: FloatArray, weights: FloatArray
) -> FloatArray:
    """Return P(X_a is the largest) of independent X_a ~ N(m_a, v_a), by quadrature.

    It is the integral of pdf_a(x) prod_{b != a} cdf_b(x) dx.

    Below ``start = max(mean - tail std)`` the product vanishes, above ``max(mean + tail std)``
    the densities do; x counts from start. Invariant: a panel is no wider than the std of any
    arm that still varies in it, so ten nodes give ten digits. At most 2 tail k panels.
    """
    odds = np.zeros(len(means))
    density, below = np.empty(len(means)), np.empty(len(means))
    start = (means - TAIL * stds).max()
    end = (means + TAIL * stds).max() - start
    if end == 0.0:  # the stds vanish beside the means: every draw is its mean
        odds[means.argmax()] = 1.0
        return odds
    x = 0.0
    while x < end:
        width = end - x
        for b in range(len(means)):
            if start - means[b] + x < TAIL * stds[b]:
                width = min(width, stds[b])
        for j in range(len(nodes)):
            product = weights[j] * width
            for b in range(len(means)):
                z = (start - means[b] + x + nodes[j] * width) / stds[b]
                if z > TAIL:
                    below[b], density[b] = 1.0, 0.0
                    continue
                below[b] = 0.5 * math.erfc(-z / math.sqrt(2.0))
                density[b] = math.exp(-0.5 * z * z) / (math.sqrt(2.0 * math.pi) * stds[b])
                product *= below[b]
            for a in range(len(means)):
                odds[a] += product * density[a] / below[a]
        x += width
    odds /= odds.sum()
    return odds
