"""Plain twins of the projection kernels: slow, short, to be checked by eye."""

from itertools import product

import numpy as np
import quadprog

from lobandits.basics.checks import BoolArray, FloatArray


def closed_sets(above: BoolArray) -> list[set[int]]:
    """All sets of arms that contain, with an arm, every arm above it."""
    k = len(above)
    sets = [{a for a in range(k) if chosen[a]} for chosen in product((False, True), repeat=k)]
    return [u for u in sets if all(b not in u or a in u for a, b in np.argwhere(above))]


def with_top(above: BoolArray, top: int | None) -> BoolArray:
    """The order with one arm put above all others."""
    above = above.copy()
    if top is not None:
        above[top] = True
        above[top, top] = False
    return above


def minmax(values: FloatArray, weights: FloatArray, above: BoolArray) -> FloatArray:
    """mu_a = max over upper U with a of min over lower L with a of the mean of U and L."""
    k = len(values)
    uppers = closed_sets(above)
    lowers = [set(range(k)) - u for u in uppers]

    def mean(arms: set[int]) -> float:
        at = sorted(arms)
        return float(values[at] @ weights[at] / weights[at].sum())

    return np.array(
        [
            max(min(mean(u & lo) for lo in lowers if a in lo) for u in uppers if a in u)
            for a in range(k)
        ]
    )


def weighted_arms(weights: FloatArray) -> list[int]:
    return [a for a in range(len(weights)) if weights[a] > 0]


def naive(values: FloatArray, weights: FloatArray, above: BoolArray) -> FloatArray:
    """The min-max fit of the weighted arms; nan for the others."""
    fit = np.full(len(values), np.nan)
    arms = weighted_arms(weights)
    if arms:
        fit[arms] = minmax(values[arms], weights[arms], above[np.ix_(arms, arms)])
    return fit


def solved(
    values: FloatArray, weights: FloatArray, above: BoolArray, gaps: FloatArray | None = None
) -> FloatArray:
    """The same by quadprog, with all relations of the closure; nan where the weight is zero."""
    fit = np.full(len(values), np.nan)
    arms = weighted_arms(weights)
    if not arms:
        return fit
    pairs = [(a, b) for a, b in np.argwhere(above) if a in arms and b in arms]
    scale = max(1.0, float(np.abs(values[arms]).max()))
    y, w = values[arms] / scale, weights[arms]
    if not pairs:
        fit[arms] = values[arms]
        return fit
    constraints = np.zeros((len(arms), len(pairs)))
    least = np.zeros(len(pairs))
    for i, (a, b) in enumerate(pairs):
        constraints[arms.index(a), i] = 1.0
        constraints[arms.index(b), i] = -1.0
        least[i] = 0.0 if gaps is None else gaps[a, b] / scale
    fit[arms] = quadprog.solve_qp(np.diag(w), w * y, constraints, least)[0] * scale
    return fit
