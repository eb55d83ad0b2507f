r"""Information-directed sampling: the mixture of two arms of the least information ratio.

Hypotheses with weights p have a mean and a variance of every arm, and an arm on top. With

.. math:: \Delta_a = E[\mu_{top} - \mu_a], \qquad
          I_a = \tfrac12 \log(1 + \mathrm{between}_a / (\sigma^2 + \mathrm{within}_a)),

where the variance of mu_a splits into between and within the arms on top, play the mixture pi of
two arms that minimises :math:`(\sum \pi_a \Delta_a)^2 / \sum \pi_a I_a`.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray
from lobandits._jit import lean

ALIKE = 1e-9  # arms whose regret and information differ by less, relative to the largest, share


class Split(NamedTuple):
    """What is known of the arms, by the arm that is on top."""

    mass: FloatArray  # (k,): the weight of each arm on top
    centre: FloatArray  # (k, k): [top, arm], the arm's mean given the top
    within: FloatArray  # (k,): the sum of p times (variance and squared distance from centre)
    mean: FloatArray  # (k,)
    regret: FloatArray  # (k,): Delta
    information: FloatArray  # (k,): I


def make_split(k: int) -> Split:
    """Allocate the memory for ``k`` arms."""
    rows = [np.empty(k) for _ in range(5)]
    return Split(rows[0], np.empty((k, k)), *rows[1:])


@lean
def clear(s: Split) -> None:
    """Forget all hypotheses."""
    for a in range(s.mass.shape[0]):
        s.mass[a] = 0.0
        s.within[a] = 0.0


@lean
def add_hypothesis(p: float, top: int, mean: FloatArray, variance: FloatArray, s: Split) -> None:
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
def conclude(noise: float, s: Split) -> None:
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


@lean
def dominated(a: int, regret: FloatArray, information: FloatArray) -> bool:
    """Tell whether another arm has no more regret and no less information; of equals, the first."""
    for b in range(regret.shape[0]):
        as_good = regret[b] <= regret[a] and information[b] >= information[a]
        if as_good and (b < a or regret[b] < regret[a] or information[b] > information[a]):
            return True
    return False


@lean
def mix_two_arms(regret: FloatArray, information: FloatArray, out: FloatArray) -> None:
    """Write the chances of the arms under the mixture of the least information ratio.

    An arm without regret is played at once. On the line from arm b to arm a the ratio is convex
    in the share p of a, least at p = Delta_b / (Delta_a - Delta_b) - 2 I_b / (I_a - I_b), cut to
    [0, 1].
    """
    k = regret.shape[0]
    first = 0
    for a in range(k):
        out[a] = 0.0
        better = regret[a] == regret[first] and information[a] > information[first]
        if regret[a] < regret[first] or better:
            first = a
    if regret[first] <= 0.0:
        share_alike(first, 1.0, regret, information, out)
        return
    for a in range(k):
        out[a] = 0.0 if dominated(a, regret, information) else 1.0
    upper = lower = first
    part = 1.0
    least = np.inf
    for b in range(k):
        for a in range(k):
            if out[a] > 0.0 and out[b] > 0.0 and regret[a] > regret[b]:
                steps = regret[a] - regret[b], information[a] - information[b]
                p = regret[b] / steps[0] - 2.0 * information[b] / steps[1]
                p = min(max(p, 0.0), 1.0)
                ratio = (regret[b] + p * steps[0]) ** 2 / (information[b] + p * steps[1])
                if ratio < least:
                    upper, lower, part, least = a, b, p, ratio
    for a in range(k):
        out[a] = 0.0
    share_alike(upper, part, regret, information, out)
    share_alike(lower, 1.0 - part, regret, information, out)


@lean
def share_alike(
    arm: int, chance: float, regret: FloatArray, information: FloatArray, out: FloatArray
) -> None:
    """Share ``chance`` between the arms that are like ``arm`` but for rounding."""
    k = regret.shape[0]
    scale = spread = 0.0
    for a in range(k):
        scale = max(scale, ALIKE * regret[a])
        spread = max(spread, ALIKE * information[a])
    alike = 0
    for a in range(k):
        near = abs(regret[a] - regret[arm]) <= scale
        alike += near and abs(information[a] - information[arm]) <= spread
    for a in range(k):
        near = abs(regret[a] - regret[arm]) <= scale
        if near and abs(information[a] - information[arm]) <= spread:
            out[a] += chance / alike
