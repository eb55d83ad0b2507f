r"""A prior with one more arm, of which no log knows.

Like an arm a, a user's mean of the new arm is that of a and a deviation of its own,

.. math:: \mu_{new} = \mu_a + \delta, \qquad \delta \sim N(0, \Sigma_{aa}).

Without one, it is wide: the average of the state's means, give or take what its arms differ by,

.. math:: \mu_{new} \mid s \sim N(\bar m_s + c, v), \qquad
          v = \overline{\Sigma_{aa}} + \sum_s w_s \mathrm{Var}_a(m_{sa}),

with the user's shift c, and independent of the other arms.
"""

import numpy as np

from lobandits.orders.arms import Arm, arm_index
from lobandits.priors.prior import Prior


def with_new_arm(prior: Prior, name: str, like: Arm | None = None) -> Prior:
    """Return the prior with the arm ``name``, like another arm or wide.

    >>> prior = Prior(["x", "y"], [1.0], [[3, 1]], np.eye(2), 0.5, [0.2], 1.0)
    >>> print(with_new_arm(prior, "z", like="x"))
    1 state of 3 arms; sigma 1, shift 0.5
    state 0: 100 % of users, scale 0.2: x 3 > z 3 > y 1
    >>> with_new_arm(prior, "z").means
    array([[3., 1., 2.]])
    """
    orders = prior.orders.with_arm(name, like)
    k = prior.n_arms
    spread = np.zeros((k + 1, k + 1))
    spread[:k, :k] = prior.spread
    if like is None:
        new = prior.means.mean(axis=1)
        spread[k, k] = np.diag(prior.spread).mean() + prior.shares @ prior.means.var(axis=1)
    else:
        a = arm_index(prior.arms, like)
        new = prior.means[:, a]
        spread[k, :k] = spread[:k, k] = prior.spread[a]
        spread[k, k] = 2 * prior.spread[a, a]
    means = np.column_stack([prior.means, new])
    return prior._with(arms=orders.arms, means=means, spread=spread, known=orders)
