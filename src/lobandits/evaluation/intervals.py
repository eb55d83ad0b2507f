r"""Gains of one policy over another, with intervals that cover what is unknown.

A truth is drawn for each split f of the users, family g of priors and bootstrap b of judged users;
m users play under each. With :math:`d_{fgbi}` the difference of user i,

.. math:: \hat\Delta_g = \frac{1}{FB} \sum_{fb} \bar d_{fgb}, \qquad
    \mathrm{Var}_g = \frac{1}{F} \Big( A_g + \frac{s_g^2}{\min(Bm, n)} \Big),

where s is the deviation over users, and A what the means of bootstraps vary by beyond chance: users
resampled, priors learned and truths drawn anew. The variance between splits, where it is
larger, counts instead: other teachers teach other policies. The interval spans those of all
families that stand, and half of the distance between the families on either side: the truth may be
of neither. One state falls only where states foretell judged users better by `CLEAR` standard
errors, with what teachers taught.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import FloatArray

BEYOND = 0.5  # of the distance between families
CLEAR = 3.0  # standard errors of the evidence over judged users, for one state to fall


class Interval(NamedTuple):
    """An estimate and the interval around it."""

    mean: float
    low: float
    high: float


def families_standing(evidence: FloatArray) -> slice:
    """Return which families stand, by users' evidence of states over one, (n,)."""
    error = evidence.std() / np.sqrt(len(evidence))
    return slice(1 if evidence.mean() > CLEAR * error > 0 else 0, None)


def spanning_interval(
    values: FloatArray, n_users: int, level: float, standing: slice = slice(None)
) -> Interval:
    """Return the mean and interval of values (splits, families, bootstraps, users).

    ``n_users`` judged users in a split stand behind them; of the families some are ``standing``.
    """
    from scipy.special import stdtrit

    splits, families, boots, _ = values.shape
    t = float(stdtrit(max(splits * (boots - 1), 1), (1 + level) / 2))
    means = values.mean(axis=(0, 2, 3))
    wide = np.array([t * np.sqrt(_variance(values[:, g], n_users)) for g in range(families)])
    beyond = BEYOND * (means.max() - means.min())
    low, high = (means - wide)[standing].min() - beyond, (means + wide)[standing].max() + beyond
    return Interval(float(means[standing].mean()), float(low), float(high))


def _variance(values: FloatArray, n_users: int) -> float:
    """Return the variance of the mean of values (splits, bootstraps, users)."""
    splits, boots, users = values.shape
    by_boot = values.mean(axis=2)
    within = float(values.var(axis=2, ddof=1).mean()) if users > 1 else 0.0
    shared = 0.0
    if boots > 1:
        shared = max(float(by_boot.var(axis=1, ddof=1).mean()) - within / users, 0.0)
    known = (shared + within / min(boots * users, n_users)) / splits
    between = float(by_boot.mean(axis=1).var(ddof=1)) / splits
    larger: float = max(known, between)
    return larger
