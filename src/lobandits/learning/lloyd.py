"""The parts of k-means: first seeds, then users to the nearest order and centres to their users."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.learning.kendall import PairSigns, agreements, nearest, order_signs, rank

MOST_USERS = 50_000  # seeds are chosen among at most so many users, drawn at random


class Centroid(Protocol):
    """How centres follow from members."""

    @property
    def values(self) -> FloatArray:
        """Each user as a centre, (n_users, n_arms): what the first centres are chosen from."""

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' new centres in place of ``centers``; nan without members."""


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
        for s in np.unique(labels):
            members = np.flatnonzero(labels == s)
            # Their distances to an order sum to a constant less half of its signs times margins.
            margins = (1.0 / self.users.tried[members]) @ self.users.signs[members]
            scores = self._scores(members, margins)
            old, new = order_signs(rank(np.stack([centers[s], scores]))).T.astype(np.float64)
            result[s] = scores if margins @ new > margins @ old else centers[s]
        return result

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


def plus_plus(
    users: PairSigns, values: FloatArray, n_states: int, rng: np.random.Generator
) -> IntArray:
    """Return users (n_states,) whose ``values`` are the first centres.

    Each next one is drawn with probability proportional to its distance above the least
    possible, to the nearest order so far; of a few draws the one that lowers the total most is
    kept (Arthur and Vassilvitskii 2007, in the greedy form). Fewer come back if no user's
    strict preferences disagree with the nearest order any more.
    """
    known = np.arange(len(users))
    if len(users) > MOST_USERS:
        known = np.sort(rng.choice(len(users), MOST_USERS, replace=False))
    sample, orders = users.take(known), rank(values[known])
    sample = replace(sample, signs=sample.signs.astype(np.float32))  # once, not at each product
    trials = 2 + int(math.log(n_states))
    seeds = [int(rng.integers(len(known)))]
    closest = _excess(sample, orders[seeds])[:, 0]
    while len(seeds) < n_states and closest.any():
        drawn = _draw(closest, rng.random(trials))
        lowered = np.minimum(_excess(sample, orders[drawn]), closest[:, None])
        best = int(lowered.sum(axis=0).argmin())
        seeds.append(int(drawn[best]))
        closest = lowered[:, best]
    return known[seeds]


def _excess(users: PairSigns, orders: IntArray) -> FloatArray:
    """Return each user's distance to each order above the least possible: (n_users, n)."""
    products = np.concatenate([block for _, block in agreements(users, order_signs(orders))])
    return np.ascontiguousarray(users.excess(products.T).T)


def _draw(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return the places at which the shares of the total reach ``noise``, from [0, 1)."""
    sums = np.cumsum(weights)
    places = np.searchsorted(sums, noise * sums[-1], side="right")
    return np.asarray(np.minimum(places, np.flatnonzero(weights)[-1]))


@dataclass(frozen=True, eq=False)
class Clusters:
    """One iterate: centres, their orders, and each user's nearest order.

    Parameters
    ----------
    centers, rankings : (n_states, n_arms)
        The centres, and their orders, best first.
    labels, agreement : (n_users,)
        The nearest order, and the sum of the signs' products with it.
    inertia
        Mean distance to it.
    n_iter
        Iterations so far.
    """

    centers: FloatArray
    rankings: IntArray
    labels: IntArray
    agreement: FloatArray
    inertia: float
    n_iter: int


def iterate(
    users: PairSigns,
    centroid: Centroid,
    seeds: IntArray,
    max_iter: int,
    advance: Callable[[int], None],
) -> Clusters:
    """Return the best iterate from the centres of the users ``seeds`` on.

    Stops when a labelling comes back: at a fixed point, or in a cycle.
    """
    current = best = assign(users, centroid.values[seeds], 0)
    seen = {_digest(current.labels)}
    for step in range(1, max_iter + 1):
        centers = centroid.update(current.labels, current.centers)
        _reseed(centers, centroid.values, users.excess(current.agreement))
        current = assign(users, centers, step)
        advance(1)
        if current.inertia < best.inertia:
            best = current
        if _digest(current.labels) in seen:
            break
        seen.add(_digest(current.labels))
    advance(max_iter - current.n_iter)
    return best


def assign(users: PairSigns, centers: FloatArray, n_iter: int) -> Clusters:
    """Return the iterate with these centres."""
    rankings = rank(centers)
    labels, agreement = nearest(users, order_signs(rankings))
    inertia = float(users.distances(agreement).mean())
    return Clusters(centers, rankings, labels, agreement, inertia, n_iter)


def _reseed(centers: FloatArray, values: FloatArray, excess: FloatArray) -> None:
    """Put each state without members at one of the users farthest from their order."""
    empty = np.flatnonzero(np.isnan(centers[:, 0]))
    if len(empty):
        farthest = np.argsort(-excess, kind="stable")
        centers[empty] = values[farthest[: len(empty)]]


def _digest(labels: IntArray) -> bytes:
    return hashlib.blake2b(labels.tobytes(), digest_size=16).digest()
