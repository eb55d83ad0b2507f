r"""The mixture of two arms of the least (expected regret)^lambda / (expected information).

Over points of a user's mean rewards, of which arm b is on top in a share P(top = b),

.. math:: \Delta_a = E[\max_b \mu_b] - E[\mu_a], \qquad
    I_a = \frac{1}{\sigma_a^2} \sum_b P(\mathrm{top} = b)
          (E[\mu_a \mid \mathrm{top} = b] - E[\mu_a])^2,

with :math:`\sigma_a^2` the variance of one reward of the arm: what playing it tells of which arm is
on top. The exponent is large before much is known, so that little is spent on looking around:

.. math:: \lambda = 1.4 + \delta \Big(0.6 + \frac{\max(4, 2 \sqrt{n_0})}{1 + t / (4 n_0)}\Big)

after t plays, where the prior is worth :math:`n_0` plays of an arm and :math:`\delta` is doubt.
Where clicks are rare n0 is large, and what one play tells hardly ever pays.
"""

from typing import NamedTuple

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.basics.kernel import kernel, writable

SURE, UNSURE = 1.4, 0.6  # the exponent of regret where orders are certain, and what doubt adds
EXTRA, BY_WORTH = 4.0, 2.0  # what doubt adds beyond before the first play, and by sqrt(n0)
LASTS = 4.0  # it is halved after so many times the plays that the prior is worth
ALIKE = 1e-9  # arms whose regret and information differ by less, relative to the largest, share


class Moments(NamedTuple):
    """What points tell of users' arms, (n, k) each."""

    mean: FloatArray
    on_top: FloatArray  # the share of points with the arm on top
    regret: FloatArray
    information: FloatArray


def exponents(plays: FloatArray, doubt: float, worth: float) -> FloatArray:
    """Return lambda of each user: it falls as plays outnumber what the prior is worth."""
    extra = max(EXTRA, BY_WORTH * worth**0.5)
    power: FloatArray = SURE + doubt * (UNSURE + extra / (1.0 + plays / (LASTS * worth)))
    return power


def moments_of(points: FloatArray, top: IntArray, noise: FloatArray) -> Moments:
    """Return the moments of points (n, k, p), of which ``top`` (n, p) are the best arms."""
    out = Moments(*(np.empty(points.shape[:2]) for _ in range(4)))
    split_by_top(points, top, noise, out)
    return out


@kernel
def split_by_top(points: FloatArray, top: IntArray, noise: FloatArray, out: Moments) -> None:
    """Write the moments; O(k p) for each user: there are no more tops than points.

    An arm on top of every point has a regret of exactly 0.
    """
    n, k, p = points.shape
    group, size, total = np.empty(p, np.int64), np.empty(p), np.empty(p)
    best = np.empty(p)
    place = np.full(k, -1)
    for u in range(n):
        groups = 0
        for i in range(p):
            if place[top[u, i]] < 0:
                place[top[u, i]], size[groups] = groups, 0.0
                groups += 1
            group[i] = place[top[u, i]]
            size[group[i]] += 1.0
            best[i] = points[u, top[u, i], i]
        for a in range(k):
            row, regret, mean = points[u, a], 0.0, 0.0
            total[:groups] = 0.0
            for i in range(p):
                total[group[i]] += row[i]
                mean += row[i]
                regret += best[i] - row[i]
            mean /= p
            information = 0.0
            for g in range(groups):
                information += size[g] / p * (total[g] / size[g] - mean) ** 2
            out.mean[u, a], out.regret[u, a] = mean, regret / p
            out.information[u, a] = information / noise[u, a]
            out.on_top[u, a] = size[place[a]] / p if place[a] >= 0 else 0.0
        for i in range(p):
            place[top[u, i]] = -1


def best_mixtures(moments: Moments, allowed: BoolArray, power: FloatArray) -> FloatArray:
    """Return every user's chances of the arms in the best mixture of two, (n, k)."""
    odds = np.zeros(moments.mean.shape)
    mix_arms(moments.regret, moments.information, writable(allowed), power, odds)
    return odds


@kernel
def mix_arms(
    regret: FloatArray,
    information: FloatArray,
    allowed: BoolArray,
    power: FloatArray,
    odds: FloatArray,
) -> None:
    """Write every user's chances of the arms into zeros."""
    order = np.empty(regret.shape[1], np.int64)
    for u in range(len(regret)):
        some = allowed[u if len(allowed) > 1 else 0]
        order[:] = np.argsort(regret[u], kind="mergesort")
        mix_two_arms(regret[u], information[u], some, power[u], order, odds[u])


@kernel
def mix_two_arms(
    regret: FloatArray,
    information: FloatArray,
    allowed: BoolArray,
    power: float,
    order: IntArray,
    out: FloatArray,
) -> None:
    """Write the chances of the allowed arms under the mixture of the least information ratio.

    An arm without regret is played at once. From arm b to arm a the ratio has one minimum in the
    share p of a, where (power - 1) p = Delta_b / (Delta_a - Delta_b) - power I_b / (I_a - I_b), cut
    to [0, 1]; power is above 1. Regrets are taken in units of the least, which moves no minimum.
    ``order`` has the arms by regret, and becomes the list of those that no other arm betters in
    both: these few alone are paired. O(k + their number squared).
    """
    n = front(regret, information, allowed, order)
    first = order[0]
    if regret[first] <= 0.0:
        share_alike(first, 1.0, regret, information, allowed, out)
        return
    upper = lower = first
    part = 1.0
    least = np.inf
    for j in range(n):
        b = order[j]
        for i in range(j + 1, n):
            a = order[i]
            more, gain = regret[a] - regret[b], information[a] - information[b]
            p = regret[b] / more - power * information[b] / gain
            p = min(max(p / (power - 1.0), 0.0), 1.0)
            cost = (regret[b] + p * more) / regret[first]
            ratio = cost**power / (information[b] + p * gain)
            if ratio < least:
                upper, lower, part, least = a, b, p, ratio
    share_alike(upper, part, regret, information, allowed, out)
    share_alike(lower, 1.0 - part, regret, information, allowed, out)


@kernel
def front(regret: FloatArray, information: FloatArray, allowed: BoolArray, order: IntArray) -> int:
    """Keep of arms by regret the allowed ones with more information than all before.

    Of arms with the same regret the one with the most information stays, the first of equals.
    Return their number; it is at least one.
    """
    n = 0
    for i in range(order.shape[0]):
        # Invariant: the first n have strictly rising regret and information.
        a = order[i]
        if not allowed[a] or (n > 0 and information[a] <= information[order[n - 1]]):
            continue
        if n > 0 and regret[a] == regret[order[n - 1]]:
            n -= 1
        order[n] = a
        n += 1
    return n


@kernel
def share_alike(
    arm: int,
    chance: float,
    regret: FloatArray,
    information: FloatArray,
    allowed: BoolArray,
    out: FloatArray,
) -> None:
    """Share ``chance`` between the allowed arms that are like ``arm`` but for rounding."""
    k = regret.shape[0]
    scale = spread = 0.0
    for a in range(k):
        if allowed[a]:
            scale = max(scale, ALIKE * regret[a])
            spread = max(spread, ALIKE * information[a])
    alike = 0
    for a in range(k):
        alike += allowed[a] and is_like(a, arm, regret, information, scale, spread)
    for a in range(k):
        if allowed[a] and is_like(a, arm, regret, information, scale, spread):
            out[a] += chance / alike


@kernel
def is_like(
    a: int, b: int, regret: FloatArray, information: FloatArray, scale: float, spread: float
) -> bool:
    """Tell whether two arms have the same regret and information but for rounding."""
    near = abs(regret[a] - regret[b]) <= scale
    return bool(near and abs(information[a] - information[b]) <= spread)
