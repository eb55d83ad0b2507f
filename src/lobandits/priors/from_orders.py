r"""A prior for those who have orders and nothing else: it knows no scale.

.. math:: \mu_a = \alpha + \beta z_a + 0.3 \, \beta \varepsilon_a, \qquad
          z_a = (|\{b : a \succ b\}| - |\{b : b \succ a\}|) / (2 s), \quad s^2 = (k^2 - 1) / 12,

on a chain the centred rank over its standard deviation, with a flat alpha and a grid of slopes beta
relative to sigma. Arms that an order does not compare with each other have alphas of their own:
the more such arms, the wider the spread.
"""

import numpy as np

from lobandits._checks import positive
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders
from lobandits.priors.prior import Prior

RHO = 0.3
N_SLOPES, FLATTEST, RATIO = 10, 0.15, 1.8  # beta is FLATTEST sigma RATIO^j
FLAT = 30.0  # the standard deviation of alpha, in the largest beta


def prior_of_orders(orders: LatentOrders, sigma: float = 1.0) -> Prior:
    """Return the scale-free prior of orders, for rewards whose noise is ``sigma``.

    >>> orders = LatentOrders.from_rankings([[2, 0, 1], [0, 1, 2]])
    >>> prior_of_orders(orders).means.round(2)
    array([[ 0.  , -1.22,  1.22],
           [ 1.22,  0.  , -1.22]])
    """
    if not isinstance(orders, LatentOrders):
        raise LobInputError(f"orders must be LatentOrders, got {type(orders).__name__}")
    sigma, k = positive("sigma", sigma), orders.n_arms
    above = orders.precedes.sum(axis=2) - orders.precedes.sum(axis=1)
    unit = 2.0 * np.sqrt(max(k * k - 1, 1) / 12.0)
    comparable = orders.precedes | orders.precedes.transpose(0, 2, 1)
    free = 1.0 - comparable.sum() / max(orders.n_states * k * (k - 1), 1)
    slopes = sigma * FLATTEST * RATIO ** np.arange(N_SLOPES, dtype=np.float64)
    m = orders.n_states
    return Prior(
        arms=orders.arms,
        shares=np.full(m, 1.0 / m),
        means=above / unit,
        spread=(RHO**2 + free) * np.eye(k),
        shift=float(FLAT * slopes[-1]),
        scales=np.zeros(m),
        sigma=sigma,
        factors=slopes.astype(np.float64),
        known=orders,
    )
