"""What the centre of a state is: the members' average, or their Borda scores."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.learning.kendall import PairSigns, order_signs, rank


class Centroid(Protocol):
    """How centres follow from members."""

    @property
    def values(self) -> FloatArray:
        """Each user as a centre, (n_users, n_arms): what the first centres are chosen from."""

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' new centres in place of ``centers``; nan without members."""


@dataclass(frozen=True, eq=False)
class MeanCentroid:
    """The paper's: the average of the members' means."""

    values: FloatArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' averages."""
        m = len(centers)
        counts = np.bincount(labels, minlength=m).astype(np.float64)
        sums = [np.bincount(labels, column, minlength=m) for column in self.values.T]
        with np.errstate(invalid="ignore"):
            return np.stack(sums, axis=1) / counts[:, None]


@dataclass(frozen=True, eq=False)
class BordaCentroid:
    r"""Borda scores: over all other arms b, the sum of the members' average of sign(x_a - x_b).

    Members who tried both arms count, with weight :math:`1 / |P_u|`. The order of the scores
    replaces a state's order only if it is nearer to the members on average, so that neither
    step of k-means can raise the objective.
    """

    values: FloatArray
    users: PairSigns
    tried: BoolArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' scores where their order is nearer, else the old centre."""
        result = np.full_like(centers, np.nan)
        for s, members in _members(labels, len(centers)):
            margins = self._margins(members)
            scores = self._scores(members, margins)
            old, new = order_signs(rank(np.stack([centers[s], scores]))).T.astype(np.float64)
            result[s] = scores if margins @ new > margins @ old else centers[s]
        return result

    def _margins(self, members: IntArray) -> FloatArray:
        """Return the weighted sum of the members' signs, for each pair.

        The members' distances to an order sum to a constant less half of its signs times this.
        """
        weights = 1.0 / self.users.tried[members]
        return np.asarray(weights @ self.users.signs[members])

    def _scores(self, members: IntArray, margins: FloatArray) -> FloatArray:
        tried = self.tried[members].astype(np.float64)
        pairs = (tried.T / self.users.tried[members]) @ tried
        matrix = np.zeros_like(pairs)
        upper = np.triu_indices(len(pairs), 1)
        matrix[upper] = margins / np.where(pairs[upper] > 0, pairs[upper], 1.0)
        return np.asarray((matrix - matrix.T).sum(axis=1))


def borda_scores(means: FloatArray) -> FloatArray:
    """Return the number of arms below each arm less those above it, for each user."""
    scores = np.zeros_like(means)
    for a in range(means.shape[1]):
        scores[:, a] = np.sign(means[:, a : a + 1] - means).sum(axis=1)
    return scores


def _members(labels: IntArray, n_states: int) -> Iterator[tuple[int, IntArray]]:
    """Yield each state that has members, and these."""
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(1, n_states))
    return ((s, users) for s, users in enumerate(np.split(order, ends)) if len(users))
