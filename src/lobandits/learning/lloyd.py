"""The iterations of k-means: assign users to the nearest order, then move the centres."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lobandits._checks import FloatArray, IntArray
from lobandits.learning.centroids import Centroid
from lobandits.learning.kendall import PairSigns, nearest, order_signs, rank


@dataclass(frozen=True, eq=False)
class Clusters:
    """One iterate: centres, their orders, and each user's nearest order.

    Parameters
    ----------
    centers : (n_states, n_arms)
    rankings : (n_states, n_arms), the centres' orders, best first
    labels : (n_users,), the nearest order
    agreement : (n_users,), sum of the signs' products with it
    inertia : mean distance to it
    n_iter : iterations so far
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
