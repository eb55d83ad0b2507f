"""Regret and information of the arms, from means under hypotheses of which arm is on top."""

import math
from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray
from lobandits._jit import lean


class TopMoments(NamedTuple):
    """What is known of the arms, by the arm that is on top."""

    mass: FloatArray  # (k,): the weight of each arm on top
    centre: FloatArray  # (k, k): [top, arm], the arm's mean given the top
    within: FloatArray  # (k,): the sum of p times (variance and squared distance from centre)
    mean: FloatArray  # (k,)
    regret: FloatArray  # (k,): Delta
    information: FloatArray  # (k,): I


@lean
def raise_above(mean: FloatArray, top: int, variance: float, allowed: BoolArray) -> None:
    """Replace the mean m of ``top`` by E[X | X > M], X ~ N(m, variance).

    M is the best mean of the other allowed arms. That is M + sd (x + phi(x) / Phi(x)) with
    x = (m - M) / sd.
    """
    best = -np.inf
    for a in range(mean.shape[0]):
        if allowed[a] and a != top:
            best = max(best, mean[a])
    if best == -np.inf:
        return
    sd = math.sqrt(variance)
    x = (mean[top] - best) / sd
    density = math.exp(-0.5 * x * x) / math.sqrt(2.0 * math.pi)
    mean[top] = best + sd * (x + density / (0.5 * math.erfc(-x / math.sqrt(2.0))))


@lean
def clear(s: TopMoments) -> None:
    """Forget all hypotheses."""
    s.mass[:] = 0.0
    s.within[:] = 0.0


@lean
def add_hypothesis(
    p: float, top: int, mean: FloatArray, variance: FloatArray, s: TopMoments
) -> None:
    """Add a hypothesis of weight ``p``; Welford's update keeps centres and squares precise."""
    k = mean.shape[0]
    centre = s.centre[top]
    if s.mass[top] == 0.0:
        for a in range(k):
            centre[a] = mean[a]
    s.mass[top] += p
    share = p / s.mass[top]
    for a in range(k):
        before = mean[a] - centre[a]
        centre[a] += share * before
        s.within[a] += p * (before * (mean[a] - centre[a]) + variance[a])


@lean
def conclude(noise: float, s: TopMoments) -> None:
    """Turn the sums into Delta and I, and masses into chances; ``noise`` is sigma^2. O(k^2).

    An arm that is on top in every hypothesis has a regret of exactly 0.
    """
    k = s.mass.shape[0]
    total = 0.0
    for a in range(k):
        total += s.mass[a]
        s.mean[a] = s.regret[a] = s.information[a] = 0.0
    for top in range(k):
        s.mass[top] /= total
        if s.mass[top] > 0.0:
            for a in range(k):
                s.mean[a] += s.mass[top] * s.centre[top, a]
                s.regret[a] += s.mass[top] * (s.centre[top, top] - s.centre[top, a])
    for top in range(k):
        if s.mass[top] > 0.0:
            for a in range(k):
                s.information[a] += s.mass[top] * (s.centre[top, a] - s.mean[a]) ** 2
    for a in range(k):
        s.information[a] = 0.5 * np.log1p(s.information[a] / (noise + s.within[a] / total))
