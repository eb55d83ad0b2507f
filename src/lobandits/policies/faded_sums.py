r"""Faded sums: what a user showed at time t counts :math:`2^{-(now - t) / h}` at time now.

For a half-life h, a reward r of time t adds its weight :math:`g = 2^{(t - L) / h}` to the count of
its arm and g r to the sum, for a landmark L; reading multiplies both by :math:`2^{-(now - L) / h}`
(forward decay, Cormode et al. 2009). That stays additive: shards merge, and late rewards count with
their own time. Landmarks lie 64 half-lives apart, so moving one is an exact power of two.
"""

from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits._jit import kernel, lean

STEP = 64.0  # half-lives between landmarks: what is older than two of them weighs below 1e-19
SHIFT = 2.0**-STEP


class Sums(NamedTuple):
    """What is known of every user's arms, (n_users, n_arms) each: of all time, and faded."""

    counts: IntArray  # of all time
    sums: FloatArray
    carries: FloatArray
    weights: FloatArray  # faded: the sums of g, of g r and of g^2
    weighted: FloatArray
    squares: FloatArray
    epochs: IntArray  # landmark / (64 half-lives)


@lean
def place(time: float, half_life: float) -> tuple[int, float]:
    """Return the epoch of a time, and what a reward then weighs at its landmark: from 1 to 2^64."""
    halvings = time / half_life
    epoch = np.floor(halvings / STEP)
    return int(epoch), np.exp2(halvings - epoch * STEP)


@lean
def shift(epochs: int) -> float:
    """Return the factor that moves a landmark on by so many epochs."""
    return 1.0 if epochs <= 0 else SHIFT if epochs == 1 else 0.0


@lean
def add_cell(
    k: Sums, u: int, a: int, epoch: int, weight: float, weighted: float, squares: float
) -> None:
    """Add what is faded, relative to the landmark of an epoch, to an arm of a user.

    Invariant: an arm's landmark is that of its latest reward, so its weight is at least 1.
    """
    if k.weights[u, a] == 0.0:
        k.epochs[u, a] = epoch
    old, new = shift(epoch - k.epochs[u, a]), shift(k.epochs[u, a] - epoch)
    k.weights[u, a] = old * k.weights[u, a] + new * weight
    k.weighted[u, a] = old * k.weighted[u, a] + new * weighted
    k.squares[u, a] = old * old * k.squares[u, a] + new * new * squares
    k.epochs[u, a] = max(epoch, k.epochs[u, a])


@kernel
def add_recent(to: Sums, of: Sums) -> None:
    """Add all that is faded in one table of sums to another; landmarks may differ."""
    for u in range(of.weights.shape[0]):
        for a in range(of.weights.shape[1]):
            if of.weights[u, a] > 0.0:
                args = of.weights[u, a], of.weighted[u, a], of.squares[u, a]
                add_cell(to, u, a, of.epochs[u, a], *args)


@kernel
def faded(
    kept: Sums,
    half_life: FloatArray,
    users: IntArray,
    times: FloatArray,
    counts: FloatArray,
    sums: FloatArray,
    least: float,
) -> None:
    """Write the weights and weighted sums of users at some times; 0 for what weighs too little."""
    for i in range(len(users)):
        u = users[i]
        for a in range(counts.shape[1]):
            factor = 2.0 ** (STEP * kept.epochs[u, a] - times[i] / half_life[u])
            counts[i, a] = sums[i, a] = 0.0
            if kept.weights[u, a] * factor >= least:
                counts[i, a] = kept.weights[u, a] * factor
                sums[i, a] = kept.weighted[u, a] * factor
