"""The relations of a state that its members support."""

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, real
from lobandits.errors import LobInputError
from lobandits.learning.kendall import pair_signs
from lobandits.orders.tables import closure


def confident_relations(
    means: FloatArray, labels: IntArray, precedes: BoolArray, level: float
) -> BoolArray:
    r"""Keep of each state's total order the relations that its members support, (m, k, k).

    For arms a above b, let n members have :math:`x_a \ne x_b`, and W of them
    :math:`x_a > x_b`. The one-sided sign test of "at most half of the members prefer a" has

    .. math:: p_{ab} = P(\mathrm{Bin}(n, 1/2) \ge W)

    It is exact for any n, and free of the members' scales. Holm's step-down over the k(k-1)/2
    pairs keeps the chance of any false relation in a state below ``level``; transitivity then
    adds what follows. Only relations of the total order are tested, so no cycle can arise.

    The same users formed the states, which makes their members agree more than new users of
    these states will: the level is nominal.
    """
    kept = np.zeros_like(precedes)
    first, second = np.triu_indices(means.shape[1], 1)
    for s, order in enumerate(precedes):
        signs = pair_signs(means[labels == s]).signs
        wins, losses = ((signs == sign).sum(axis=0) for sign in (1, -1))
        down = order[first, second]
        above, below = np.where(down, (first, second), (second, first))
        p = sign_test(np.where(down, wins, losses), wins + losses)
        supported = holm(p, level)
        kept[s, above[supported], below[supported]] = True
    return closure(kept)


def sign_test(wins: IntArray, trials: IntArray) -> FloatArray:
    """Return P(Bin(trials, 1/2) >= wins)."""
    from scipy.stats import binom

    return np.asarray(binom.sf(wins - 1, trials, 0.5))


def holm(p: FloatArray, level: float) -> BoolArray:
    """Return which hypotheses Holm's step-down rejects: the smallest p first, until one holds."""
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order[np.logical_and.accumulate(passed)]] = True
    return rejected


def checked_level(level: float) -> float:
    """Return the level as a number strictly between 0 and 1."""
    number = real("level", level)
    if not 0 < number < 1:
        raise LobInputError(f"level must lie strictly between 0 and 1, got {level!r}")
    return number
