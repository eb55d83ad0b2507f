"""The relations of a state's order that its members support: sign tests with Holm's correction."""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.learning.kendall import pair_signs
from lobandits.orders.closure import closure


def confident_relations(
    means: FloatArray, labels: IntArray, precedes: BoolArray, level: float
) -> BoolArray:
    r"""Keep of each state's total order the relations that its members support, (m, k, k).

    For arms a above b, let n members have :math:`x_a \ne x_b`, and W of them
    :math:`x_a > x_b`. The one-sided sign test of "at most half of the members prefer a" has

    .. math:: p_{ab} = P(\mathrm{Bin}(n, 1/2) \ge W)

    Holm's step-down over all pairs keeps the chance of any false relation in a state below
    ``level``; transitivity then adds what follows, without cycles, as only relations of the total
    order are tested. The level is nominal: members formed the states, so they agree more than
    new users will.
    """
    from scipy.stats import binom

    kept = np.zeros_like(precedes)
    first, second = np.triu_indices(means.shape[1], 1)
    for s, order in enumerate(precedes):
        signs = pair_signs(means[labels == s]).signs
        wins, losses = ((signs == sign).sum(axis=0) for sign in (1, -1))
        down = order[first, second]
        above, below = np.where(down, (first, second), (second, first))
        p = binom.sf(np.where(down, wins, losses) - 1, wins + losses, 0.5)
        supported = holm(p, level)
        kept[s, above[supported], below[supported]] = True
    return closure(kept)


def holm(p: FloatArray, level: float) -> BoolArray:
    """Return which hypotheses Holm's step-down rejects: the smallest p first, until one holds."""
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order[np.logical_and.accumulate(passed)]] = True
    return rejected
