"""The information ratio by brute force: every pair of arms, every derivative set to zero."""

import math
from collections.abc import Sequence

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray


def moments(points: FloatArray, tops: Sequence[int]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares on top, regret, and information before the noise, of points (n, k)."""
    n, k = points.shape
    regret, between, share = np.zeros(k), np.zeros(k), np.zeros(k)
    for point, top in zip(points, tops, strict=True):
        regret += (point[top] - point) / n
        share[top] += 1 / n
    average = points.mean(axis=0)
    for b in sorted(set(tops)):
        mine = np.array([x for x, top in zip(points, tops, strict=True) if top == b])
        between += share[b] * (mine.mean(axis=0) - average) ** 2
    return share, regret, between


def two_arms(
    regret: FloatArray, information: FloatArray, power: float, allowed: BoolArray | None = None
) -> list[float]:
    """The mixture of two arms with the least (regret)^power / information; alike arms share."""
    k = len(regret)
    some = [a for a in range(k) if allowed is None or allowed[a]]

    def alike(a: int) -> list[int]:
        far, wide = max(regret[some]), max(information[some])
        return [
            b
            for b in some
            if abs(regret[a] - regret[b]) <= 1e-7 * far
            and abs(information[a] - information[b]) <= 1e-7 * wide
        ]

    chances = [0.0] * k
    least = min(some, key=lambda a: (regret[a], -information[a]))
    best = (math.inf, least, least, 1.0)
    if regret[least] > 0:
        for a in some:
            for b in some:
                for p in parts(regret[a], regret[b], information[a], information[b], power):
                    gain = p * information[a] + (1 - p) * information[b]
                    if gain > 0:
                        cost = (p * regret[a] + (1 - p) * regret[b]) / regret[least]
                        best = min(best, (cost**power / gain, a, b, p))
    _, upper, lower, part = best
    for arm, chance in ((upper, part), (lower, 1 - part)):
        for same in alike(arm):
            chances[same] += chance / len(alike(arm))
    return chances


def parts(da: float, db: float, ia: float, ib: float, power: float) -> list[float]:
    """Both ends, and where the derivative of the ratio vanishes, if between them."""
    found = [0.0, 1.0]
    if da != db and ia != ib:
        inside = (db / (da - db) - power * ib / (ia - ib)) / (power - 1)
        if 0 < inside < 1:
            found.append(float(inside))
    return found


def ratio(chances: FloatArray, regret: FloatArray, information: FloatArray, power: float) -> float:
    """(expected regret)^power / (expected information)."""
    cost, gain = float(chances @ regret), float(chances @ information)
    return cost**power / gain if gain else float(cost > 0) * math.inf
