r"""Least loss: indexed minimum empirical divergence (Honda and Takemura 2015).

.. math:: \arg\min_a \; D_a + \log N_a, \qquad D_a = (L(a) - \min_b L(b)) / (2 \sigma^2)

for an arm's loss L and plays N; an arm never played counts log 0 as -1.
"""

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray

TIE = 1e-9  # indices this close, relative to the losses behind them, are equal but for rounding


def reach(counts: IntArray | FloatArray, variance: float) -> FloatArray:
    """Return how far above a user's least loss an arm may still have the least index, (n_users,).

    The arm of least loss has an index of at most log max N, and no index is below D - 1.
    """
    most = np.maximum(counts.max(axis=1), 1)
    far: FloatArray = 2.0 * variance * (np.log(most) + 1.0 + TIE)
    return far


def indices(losses: FloatArray, counts: IntArray | FloatArray, variance: float) -> FloatArray:
    """Return D_a + log N_a of every user's arms; inf where no loss is finite."""
    logs = np.log(counts, out=np.full(counts.shape, -1.0), where=counts > 0)
    divergence: FloatArray = (losses - losses.min(axis=1, keepdims=True)) / (2.0 * variance)
    return divergence + logs


def least_index(losses: FloatArray, counts: IntArray | FloatArray, variance: float) -> FloatArray:
    """Return 1 for the arms of each user's least index, 0 for the others."""
    index, least = indices(losses, counts, variance), losses.min(axis=1)
    best = index.min(axis=1) + TIE * (1.0 + least / (2.0 * variance))
    least_arms: FloatArray = (index <= best[:, None]).astype(np.float64)
    return least_arms
