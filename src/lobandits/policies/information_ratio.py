"""The mixture of two arms that minimises (expected regret)^lambda / (expected information)."""

import numpy as np

from lobandits._checks import BoolArray, FloatArray
from lobandits._jit import NONE, lean

ALIKE = 1e-9  # arms whose regret and information differ by less, relative to the largest, share


@lean
def mix_two_arms(
    regret: FloatArray,
    information: FloatArray,
    allowed: BoolArray,
    power: float,
    out: FloatArray,
) -> None:
    """Write the chances of the allowed arms under the mixture of the least information ratio.

    An arm without regret is played at once. From arm b to arm a the ratio has one minimum in the
    share p of a, where (power - 1) p = Delta_b / (Delta_a - Delta_b) - power I_b / (I_a - I_b), cut
    to [0, 1]; power is above 1. Regrets are taken in units of the least, which moves no minimum.
    O(k^2).
    """
    k = regret.shape[0]
    first = NONE
    for a in range(k):
        out[a] = 0.0
        if allowed[a] and (first < 0 or goes_before(a, first, regret, information)):
            first = a
    if regret[first] <= 0.0:
        share_alike(first, 1.0, regret, information, allowed, out)
        return
    for a in range(k):
        out[a] = 1.0 if allowed[a] and not dominated(a, regret, information, allowed) else 0.0
    upper = lower = first
    part = 1.0
    least = np.inf
    for b in range(k):
        for a in range(k):
            if out[a] > 0.0 and out[b] > 0.0 and regret[a] > regret[b]:
                steps = regret[a] - regret[b], information[a] - information[b]
                p = regret[b] / steps[0] - power * information[b] / steps[1]
                p = min(max(p / (power - 1.0), 0.0), 1.0)
                cost = (regret[b] + p * steps[0]) / regret[first]
                ratio = cost**power / (information[b] + p * steps[1])
                if ratio < least:
                    upper, lower, part, least = a, b, p, ratio
    out[:] = 0.0
    share_alike(upper, part, regret, information, allowed, out)
    share_alike(lower, 1.0 - part, regret, information, allowed, out)


@lean
def goes_before(a: int, b: int, regret: FloatArray, information: FloatArray) -> bool:
    """Tell whether arm a has less regret than arm b or, for the same, more information."""
    same = regret[a] == regret[b]
    return bool(regret[a] < regret[b] or (same and information[a] > information[b]))


@lean
def dominated(a: int, regret: FloatArray, information: FloatArray, allowed: BoolArray) -> bool:
    """Tell whether another arm has no more regret and no less information; of equals, the first."""
    for b in range(regret.shape[0]):
        as_good = allowed[b] and regret[b] <= regret[a] and information[b] >= information[a]
        if as_good and (b < a or regret[b] < regret[a] or information[b] > information[a]):
            return True
    return False


@lean
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


@lean
def is_like(
    a: int, b: int, regret: FloatArray, information: FloatArray, scale: float, spread: float
) -> bool:
    """Tell whether two arms have the same regret and information but for rounding."""
    near = abs(regret[a] - regret[b]) <= scale
    return bool(near and abs(information[a] - information[b]) <= spread)
