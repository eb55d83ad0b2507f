r"""Faded sums: what a user showed at time t counts :math:`2^{-(now - t) / h}` at time now.

For a half-life h, a reward r of time t adds its weight :math:`g = 2^{(t - L) / h}` to the count of
its arm and g r to the sum, for a landmark L; reading multiplies both by :math:`2^{-(now - L) / h}`
(forward decay, Cormode et al. 2009). That stays additive: shards merge, and late rewards count with
their own time. Landmarks lie 64 half-lives apart, so moving one is an exact power of two.

They are kept in a ledger, (n_users, n_arms, 8), beside the sums of all time: all that is known of
an arm is one line of memory, and one array is handed to kernels instead of eight.
"""

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.basics.kernel import kernel, lean
from lobandits.policies.rewards import add_exactly

# Columns of a ledger. Of all time: rewards, their sum and its carry. Faded: the sums of g, of g r
# and of g^2, at the landmark epoch x 64 half-lives. And how much the two differ: see `change`.
COUNT, SUM, CARRY, WEIGHT, WEIGHTED, SQUARES, EPOCH, DOUBT = range(8)
COLUMNS = 8
STEP = 64.0  # half-lives between landmarks: what is older than two of them weighs below 1e-19
SHIFT = 2.0**-STEP


@lean
def place(time: float, half_life: float) -> tuple[float, float]:
    """Return the epoch of a time, and what a reward then weighs at its landmark: from 1 to 2^64."""
    halvings = time / half_life
    epoch = np.floor(halvings / STEP)
    return epoch, np.exp2(halvings - epoch * STEP)


@lean
def shift(epochs: float) -> float:
    """Return the factor that moves a landmark on by so many epochs."""
    return 1.0 if epochs <= 0.0 else SHIFT if epochs == 1.0 else 0.0


@lean
def add_count(cell: FloatArray, count: float, total: float, carry: float) -> None:
    """Add to an arm's sums of all time."""
    cell[COUNT] += count
    if carry != 0.0:
        cell[SUM], cell[CARRY] = add_exactly(cell[SUM], cell[CARRY], carry)
    cell[SUM], cell[CARRY] = add_exactly(cell[SUM], cell[CARRY], total)


@lean
def add_faded(
    cell: FloatArray, epoch: float, weight: float, weighted: float, squares: float
) -> None:
    """Add to an arm's faded sums, relative to the landmark of an epoch.

    Invariant: an arm's landmark is that of its latest reward, so its weight is at least 1.
    """
    if cell[WEIGHT] == 0.0:
        cell[EPOCH] = epoch
    old, new = shift(epoch - cell[EPOCH]), shift(cell[EPOCH] - epoch)
    cell[WEIGHT] = old * cell[WEIGHT] + new * weight
    cell[WEIGHTED] = old * cell[WEIGHTED] + new * weighted
    cell[SQUARES] = old * old * cell[SQUARES] + new * new * squares
    cell[EPOCH] = max(epoch, cell[EPOCH])


@kernel
def add_ledger(to: FloatArray, of: FloatArray) -> None:
    """Add all sums of one ledger to another; landmarks may differ."""
    for u in range(of.shape[0]):
        for a in range(of.shape[1]):
            cell = of[u, a]
            add_count(to[u, a], cell[COUNT], cell[SUM], cell[CARRY])
            if cell[WEIGHT] > 0.0:
                args = cell[EPOCH], cell[WEIGHT], cell[WEIGHTED], cell[SQUARES]
                add_faded(to[u, a], *args)


@lean
def faded(cell: FloatArray, halvings: float, least: float) -> tuple[float, float]:
    """Return an arm's weight and weighted sum so many half-lives after 0; 0 if below ``least``."""
    factor = 2.0 ** (STEP * cell[EPOCH] - halvings)
    weight = cell[WEIGHT] * factor
    return (weight, cell[WEIGHTED] * factor) if weight >= least else (0.0, 0.0)


@lean
def write_weights(ledger: FloatArray, halvings: FloatArray, least: float, out: FloatArray) -> None:
    """Write the weights of users' arms, so many half-lives after 0."""
    for u in range(out.shape[0]):
        for a in range(out.shape[1]):
            out[u, a] = faded(ledger[u, a], halvings[u], least)[0]
