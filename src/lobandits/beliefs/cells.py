"""From counts and sums to cells: values with variances on the link's scale, in a few rounds.

What features say of a user's tastes (lifts, see `beliefs.feature_effects`) moves the prior's mean,
which is the same as taking it off the values: cells are less their lift, and likelihoods see them
with it.
"""

import numpy as np

from lobandits.basics.checks import FloatArray, IntArray
from lobandits.beliefs.likelihood import Likelihood
from lobandits.beliefs.posterior import Cells, Components, cell_beliefs

ROUNDS = 5  # from empirical link values the next is within 1.5 % of a standard deviation


Belief = tuple[FloatArray, FloatArray]  # mean and variance of the tastes behind cells, (j, c)


class Rewards:
    """Counts and sums of the cells that exist, user after user.

    Attributes
    ----------
    start : (n + 1,)
        The cells of user u are ``start[u]`` to ``start[u + 1]``.
    arm, counts, sums : (c,)
    lifts : (n or 1, k)
        What features add to users' tastes; zeros without.
    lift : (c,), or 0.0
        That of each cell.
    """

    def __init__(
        self, counts: FloatArray | IntArray, sums: FloatArray, lifts: FloatArray | None = None
    ) -> None:
        users, arm = np.nonzero(counts)
        self.n_users = len(counts)
        self.start = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(np.bincount(users, minlength=len(counts)), out=self.start[1:])
        self.arm = arm.astype(np.int64)
        self.counts = counts[users, arm].astype(np.float64)
        self.sums = np.ascontiguousarray(sums[users, arm])
        self.lifts = np.zeros((1, counts.shape[1])) if lifts is None else lifts
        self.lift = 0.0 if lifts is None else lifts[users, arm]

    def by_user(self, by_cell: FloatArray) -> FloatArray:
        """Return sums over each user's cells, (n, j), of numbers (j, c)."""
        total = np.zeros((self.n_users, len(by_cell)))
        some = self.start[1:] > self.start[:-1]
        if some.any():
            total[some] = np.add.reduceat(by_cell, self.start[:-1][some], axis=1).T
        return total


def first_cells(rewards: Rewards, likelihood: Likelihood) -> Cells:
    """Return the cells before anything is believed of users."""
    value, variance = likelihood.first_cells(rewards.counts, rewards.sums, rewards.arm)
    none = np.zeros((rewards.n_users, 1))
    value = value - rewards.lift
    return Cells(rewards.start, rewards.arm, value[None], variance[None], none, rewards.lifts)


def next_cells(cells: Cells, rewards: Rewards, likelihood: Likelihood, belief: Belief) -> Cells:
    """Return the cells by what is believed of users given the cells before."""
    value, variance = likelihood.cells(rewards.counts, rewards.sums, *belief)
    return cells._replace(value=value - rewards.lift, variance=variance)


def with_rest(cells: Cells, rewards: Rewards, likelihood: Likelihood, belief: Belief) -> Cells:
    """Return the cells with what their Gaussian evidence lacks of the rewards'."""
    given = cells.value + rewards.lift, cells.variance
    rest = likelihood.remainder(rewards.counts, rewards.sums, given, belief)
    return cells._replace(rest=rewards.by_user(rest))


def beliefs(cells: Cells, rewards: Rewards, c: Components) -> Belief:
    """Return mean and variance of the taste behind each cell under each component, (j, c)."""
    shape = len(c.factor) * c.mean.shape[1], len(cells.arm)
    e, v = np.empty(shape), np.empty(shape)
    cell_beliefs(cells, c, e, v)
    return e + rewards.lift, v


def settled_cells(
    counts: FloatArray | IntArray,
    sums: FloatArray,
    likelihood: Likelihood,
    c: Components,
    lifts: FloatArray | None = None,
) -> Cells:
    """Return the cells of users under a prior, from their counts, sums and lifts, (n, k) each."""
    return settle(Rewards(counts, sums, lifts), likelihood, c)


def settle(rewards: Rewards, likelihood: Likelihood, c: Components) -> Cells:
    """Return the cells of rewards under a prior: cells and beliefs until they agree."""
    cells = first_cells(rewards, likelihood)
    if likelihood.exact:
        return cells
    for _ in range(ROUNDS):
        cells = next_cells(cells, rewards, likelihood, beliefs(cells, rewards, c))
    return with_rest(cells, rewards, likelihood, beliefs(cells, rewards, c))
