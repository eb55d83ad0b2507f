"""How a state's centre follows from its members: by their means, or by their Borda scores."""

from typing import NamedTuple, Protocol

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray
from lobandits.learning.kendall import PairSigns, compared_pairs, order_signs, rank

CENTROIDS = ("mean", "borda")


class Centroid(Protocol):
    """How centres follow from members."""

    @property
    def values(self) -> FloatArray:
        """Each user as a centre, (n_users, n_arms)."""

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' new centres in place of ``centers``; nan without members."""


def make_centroid(kind: str, means: FloatArray, filled: FloatArray, users: PairSigns) -> Centroid:
    """Return the kind of `CENTROIDS` for users with ``means``, ``filled`` where there are none."""
    if kind == "mean":
        return MeanCentroid(filled)
    return BordaCentroid(borda_scores(filled), users, ~np.isnan(means))


class MeanCentroid(NamedTuple):
    """The paper's: the average of the members' means."""

    values: FloatArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' averages."""
        return averages(self.values, labels, len(centers))


def averages(values: FloatArray, labels: IntArray, n_states: int) -> FloatArray:
    """Return the average of each state's members; nan without members."""
    counts = np.bincount(labels, minlength=n_states).astype(np.float64)
    sums = [np.bincount(labels, column, minlength=n_states) for column in values.T]
    with np.errstate(invalid="ignore"):
        return np.stack(sums, axis=1) / counts[:, None]


class BordaCentroid(NamedTuple):
    r"""Borda scores: over all other arms b, the sum of the members' average of sign(x_a - x_b).

    Members who tried both arms count, with weight :math:`1 / |P_u|`. An order is replaced only
    by a nearer one, so that neither step of k-means can raise the objective.
    """

    values: FloatArray
    users: PairSigns
    tried: BoolArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' scores, or the old centre where its order is as near."""
        result = np.full_like(centers, np.nan)
        for s in np.unique(labels):
            members = np.flatnonzero(labels == s)
            # Their distances to an order sum to a constant less half of its signs times margins.
            margins = (1.0 / self.users.tried[members]) @ self.users.signs[members]
            scores = self._scores(members, margins)
            both = rank(np.stack([centers[s], scores]))
            old, new = order_signs(both, self.users.contexts).T.astype(np.float64)
            result[s] = scores if margins @ new > margins @ old else centers[s]
        return result

    def _scores(self, members: IntArray, margins: FloatArray) -> FloatArray:
        tried = self.tried[members].astype(np.float64)
        pairs = (tried.T / self.users.tried[members]) @ tried
        matrix = np.zeros_like(pairs)
        upper = compared_pairs(len(pairs), self.users.contexts)
        matrix[upper] = margins / np.where(pairs[upper] > 0, pairs[upper], 1.0)
        return np.asarray((matrix - matrix.T).sum(axis=1))


def borda_scores(means: FloatArray) -> FloatArray:
    """Return the number of arms below each arm less those above it, for each user."""
    scores = np.zeros_like(means)
    for a in range(means.shape[1]):
        scores[:, a] = np.sign(means[:, a : a + 1] - means).sum(axis=1)
    return scores
