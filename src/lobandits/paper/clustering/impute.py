"""Means of the arms that a user never tried."""

import numpy as np

from lobandits.basics.checks import FloatArray


def impute(means: FloatArray) -> tuple[FloatArray, float]:
    r"""Return :math:`\bar x_u + o_a` where :math:`x_{u,a}` is nan, and the share of such cells.

    :math:`\bar x_u` is the user's average over the arms tried, and :math:`o_a` the average of
    :math:`x_{u,a} - \bar x_u` over the users who tried the arm.

    >>> impute(np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0]]))[0]
    array([[1., 2., 3.],
           [4., 5., 6.]])
    """
    missing = np.isnan(means)
    if not missing.any():
        return means, 0.0
    typical = np.nanmean(means, axis=1, keepdims=True)
    offsets = np.nanmean(means - typical, axis=0)
    return np.where(missing, typical + offsets, means), float(missing.mean())
