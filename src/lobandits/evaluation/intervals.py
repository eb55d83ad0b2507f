r"""Gains of one policy over another, with intervals that cover what is unknown.

In each split f of the users and family g of priors, m users play under each of some truths: c times
under the family's fit to judged users, then under populations drawn (`lobandits.evaluation.truth`).
With :math:`d_{fgti}` the difference of user i under truth t,

.. math:: \hat\Delta_g = \frac{1}{Fc} \sum_{f,\, t \le c} \bar d_{fgt}, \qquad
    \mathrm{Var}_g = \frac{1}{F} \Big( A_g + \frac{s_g^2}{\min(cm, n)} \Big),

where s is the deviation over users, and A what the means of draws vary by beyond chance. Draws tell
A alone: they lie further from what teachers taught than the truth does, so their mean would
underrate whoever learned from teachers. The variance between splits, where it is larger, counts
instead: other teachers teach other policies. The interval spans those of all families that stand,
and half of the distance between the families on either side: the truth may be of neither. One
Gaussian falls only where states foretell judged users better by `CLEAR` standard errors, with what
teachers taught.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray

BEYOND = 0.5  # of the distance between families
CLEAR = 3.0  # standard errors of the evidence over judged users, for one Gaussian to fall


class Interval(NamedTuple):
    """An estimate and the interval around it."""

    mean: float
    low: float
    high: float


def families_standing(evidence: FloatArray) -> slice:
    """Return which families stand, by users' evidence of states over one Gaussian, (n,)."""
    error = evidence.std() / np.sqrt(len(evidence))
    return slice(1 if evidence.mean() > CLEAR * error > 0 else 0, None)


def spanning_interval(
    values: FloatArray, n_users: int, level: float, fits: int, standing: slice = slice(None)
) -> Interval:
    """Return the mean and interval of values (splits, families, truths, users).

    The first ``fits`` truths are the fit of their family, the others draws. ``n_users`` judged
    users in a split stand behind them; of the families some are ``standing``.
    """
    from scipy.special import stdtrit

    splits, families, truths, _ = values.shape
    t = float(stdtrit(max(splits * (truths - fits - 1), 1), (1 + level) / 2))
    means = values[:, :, :fits].mean(axis=(0, 2, 3))
    wide = np.array([t * np.sqrt(_variance(values[:, g], n_users, fits)) for g in range(families)])
    beyond = BEYOND * (means.max() - means.min())
    low, high = (means - wide)[standing].min() - beyond, (means + wide)[standing].max() + beyond
    return Interval(float(means[standing].mean()), float(low), float(high))


def _variance(values: FloatArray, n_users: int, fits: int) -> float:
    """Return the variance of the mean under the fit, of values (splits, truths, users)."""
    splits, _, users = values.shape
    fitted, drawn = values[:, :fits], values[:, fits:]
    among = float(fitted.reshape(splits, -1).var(axis=1, ddof=1).mean())
    chance = float(drawn.var(axis=2, ddof=1).mean()) / users
    shared = max(float(drawn.mean(axis=2).var(axis=1, ddof=1).mean()) - chance, 0.0)
    between = float(fitted.mean(axis=(1, 2)).var(ddof=1))
    larger: float = max(shared + among / min(fits * users, n_users), between) / splits
    return larger
