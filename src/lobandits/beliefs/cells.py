"""From counts and sums to cells: values with variances on the link's scale, in a few rounds."""

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
    """

    def __init__(self, counts: FloatArray | IntArray, sums: FloatArray) -> None:
        users, arm = np.nonzero(counts)
        self.n_users = len(counts)
        self.start = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(np.bincount(users, minlength=len(counts)), out=self.start[1:])
        self.arm = arm.astype(np.int64)
        self.counts = counts[users, arm].astype(np.float64)
        self.sums = np.ascontiguousarray(sums[users, arm])

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
    return Cells(rewards.start, rewards.arm, value[None], variance[None], none)


def next_cells(cells: Cells, rewards: Rewards, likelihood: Likelihood, belief: Belief) -> Cells:
    """Return the cells by what is believed of users given the cells before."""
    value, variance = likelihood.cells(rewards.counts, rewards.sums, *belief)
    return cells._replace(value=value, variance=variance)


def with_rest(cells: Cells, rewards: Rewards, likelihood: Likelihood, belief: Belief) -> Cells:
    """Return the cells with what their Gaussian evidence lacks of the rewards'."""
    given = cells.value, cells.variance
    rest = likelihood.remainder(rewards.counts, rewards.sums, given, belief)
    return cells._replace(rest=rewards.by_user(rest))


def beliefs(cells: Cells, c: Components) -> Belief:
    """Return mean and variance of the taste behind each cell under each component, (j, c)."""
    shape = len(c.factor) * c.mean.shape[1], len(cells.arm)
    e, v = np.empty(shape), np.empty(shape)
    cell_beliefs(cells, c, e, v)
    return e, v


def settled_cells(
    counts: FloatArray | IntArray, sums: FloatArray, likelihood: Likelihood, c: Components
) -> Cells:
    """Return the cells of users under a prior, from their counts and sums."""
    return settle(Rewards(counts, sums), likelihood, c)


def settle(rewards: Rewards, likelihood: Likelihood, c: Components) -> Cells:
    """Return the cells of rewards under a prior: cells and beliefs until they agree."""
    cells = first_cells(rewards, likelihood)
    if likelihood.exact:
        return cells
    for _ in range(ROUNDS):
        cells = next_cells(cells, rewards, likelihood, beliefs(cells, c))
    return with_rest(cells, rewards, likelihood, beliefs(cells, c))
