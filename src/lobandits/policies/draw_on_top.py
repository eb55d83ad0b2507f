"""A random choice by the likelihoods of losses, from bounds of these.

The arm at which a uniform number falls among the weights exp(-L(a) / (2 sigma^2)) is known as
soon as their bounds leave no other: mostly without a projection.
"""

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import lean
from lobandits.policies.loss_bounds import Losses, lowest, project_item, read_user
from lobandits.policies.losses import SLACK, loss_of_arm


@lean
def draw_on_top(
    counts: IntArray, sums: FloatArray, u: int, losses: Losses, variance: float, uniform: float
) -> int:
    """Draw an arm by exp(-L(a) / (2 sigma^2)), by inverting the distribution function at a uniform.

    Invariant: every weight lies between ``least`` and ``most``. While these leave it open which
    arm is drawn, the arm of the widest range is projected. Return -1 if rounding might decide.
    """
    row, slot = read_user(counts, sums, u, losses)
    items, r = losses.items, losses.memory
    origin = bound_weights(row, slot, losses, variance)
    while True:
        arm = decided(r.least, r.most, uniform)
        if arm >= 0:
            return arm
        widest = 0
        for a in range(len(r.least)):
            if r.most[a] - r.least[a] > r.most[widest] - r.least[widest]:
                widest = a
        if r.most[widest] <= r.least[widest]:
            return -1
        lo, hi = items.first[row, widest], items.first[row, widest + 1]
        first = lowest(row, slot, lo, hi, losses)
        loss = loss_of_arm(first, lo, hi, row, slot, losses, variance)
        r.least[widest] = r.most[widest] = np.exp((origin - loss) / (2.0 * variance))


@lean
def bound_weights(row: int, slot: int, losses: Losses, variance: float) -> float:
    """Write the range of every arm's weight exp((origin - L(a)) / (2 sigma^2)); return the origin.

    It is the least upper bound of a loss; without any, the likeliest item is projected.
    """
    items, b, r = losses.items, losses.bounds, losses.memory
    k = len(r.least)
    origin = np.inf
    for a in range(k):
        r.least[a] = r.most[a] = np.inf  # of the loss, for now
        for i in range(items.first[row, a], items.first[row, a + 1]):
            penalty = items.penalty[items.state[row, i]]
            r.least[a] = min(r.least[a], b.lower[slot, i] + penalty)
            r.most[a] = min(r.most[a], b.upper[slot, i] + penalty)
        origin = min(origin, r.most[a])
    if origin == np.inf:
        origin = project_item(lowest(row, slot, 0, items.first[row, k], losses), row, slot, losses)
    for a in range(k):
        low, high = r.least[a], r.most[a]
        r.least[a] = np.exp((origin - high) / (2.0 * variance))
        r.most[a] = np.exp(min((origin - low) / (2.0 * variance), 700.0))
    return origin


@lean
def decided(least: FloatArray, most: FloatArray, uniform: float) -> int:
    """Return the arm that is drawn under all weights in range, -1 if that is open. O(k).

    Arm a is drawn if u (sum of all) lies from the sum before a to that up to a: two inequalities,
    linear in the weights, so that each is worst at an end of their ranges.
    """
    k = len(least)
    above_least = above_most = 0.0
    for a in range(k):
        above_least += least[a]
        above_most += most[a]
    slack = SLACK * above_most
    below_least = below_most = 0.0
    for a in range(k):
        above_most -= most[a]
        starts = uniform * above_least >= (1.0 - uniform) * below_most + slack
        below_least += least[a]
        below_most += most[a]
        above_least -= least[a]
        ends = uniform * max(above_most, 0.0) + slack <= (1.0 - uniform) * below_least
        if starts and ends and least[a] > 0.0:
            return a
    return -1
