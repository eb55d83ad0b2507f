r"""Greedy: :math:`\pi_a \propto 1[x_a = \max_b x_b]`, the best allowed arms by a number, alike."""

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray


def greedy(values: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return 1 for the allowed arms of each user's largest value, 0 for the others."""
    among = values if allowed.all() else np.where(allowed, values, -np.inf)
    best: FloatArray = (among == among.max(axis=1, keepdims=True)).astype(np.float64)
    return best * allowed
