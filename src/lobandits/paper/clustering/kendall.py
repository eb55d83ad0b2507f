"""Kendall's tau distance between users and orders, by products of signs."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import FloatArray, IntArray

Signs = NDArray[np.float32]

BLOCK = 8192  # users whose signs are multiplied at a time, so that memory hardly grows with users


@dataclass(frozen=True, eq=False)
class PairSigns:
    r"""Users as signs :math:`\sigma_{u,ab} = \mathrm{sign}(x_{u,a} - x_{u,b})`, pairs a < b.

    The distance of a user to an order with signs :math:`\tau_{ab}`, 1 where a stands above b, is

    .. math:: d(u, \tau) = \frac{1}{|P_u|} \sum_{ab \in P_u} \frac{1 - \sigma_{u,ab} \tau_{ab}}{2}

    where :math:`P_u` are the pairs of which the user tried both arms: the share of pairs that
    are ordered oppositely, where pairs that either leaves open count half. Without such it
    is (1 - Kendall's tau) / 2; without pairs it is 1/2.

    Parameters
    ----------
    signs : (n_users, n_pairs); 0 where tied or not tried
    tried : (n_users,), the number of pairs
    strict : (n_users,), how many of them are no tie
    """

    signs: NDArray[np.int8] | NDArray[np.float32]
    tried: FloatArray
    strict: FloatArray

    def __len__(self) -> int:
        return len(self.signs)

    def take(self, users: IntArray) -> "PairSigns":
        """Return some users."""
        return PairSigns(self.signs[users], self.tried[users], self.strict[users])

    def distances(self, agreement: FloatArray) -> FloatArray:
        """Return the distances for agreements (..., n_users), sums of the signs' products."""
        return 0.5 - 0.5 * agreement / np.maximum(self.tried, 1.0)

    def excess(self, agreement: FloatArray) -> FloatArray:
        """Return how far the distances lie above the least that any order can reach."""
        return 0.5 * (self.strict - agreement) / np.maximum(self.tried, 1.0)


def pair_signs(means: FloatArray) -> PairSigns:
    """Return users by their means (n_users, n_arms), nan where an arm was not tried."""
    n, k = means.shape
    signs = np.empty((n, k * (k - 1) // 2), dtype=np.int8)
    strict = np.empty(n)
    for first in range(0, n, BLOCK):
        rows = slice(first, first + BLOCK)
        _write_signs(means[rows], signs[rows])
        strict[rows] = np.count_nonzero(signs[rows], axis=1)
    arms = (~np.isnan(means)).sum(axis=1).astype(np.float64)
    return PairSigns(signs, arms * (arms - 1) / 2, strict)


def _write_signs(means: FloatArray, signs: NDArray[np.int8]) -> None:
    """Write the signs of all pairs a < b, those of arm 0 first; comparisons with nan are false."""
    start = 0
    for a in range(means.shape[1] - 1):
        one, others = means[:, a : a + 1], means[:, a + 1 :]
        end = start + others.shape[1]
        np.subtract(one > others, one < others, out=signs[:, start:end], dtype=np.int8)
        start = end


def order_signs(rankings: IntArray) -> Signs:
    """Return the signs (n_pairs, n_states) of total orders (n_states, n_arms), best first."""
    places = np.argsort(rankings, axis=1)
    signs = pair_signs(-places.astype(np.float64)).signs
    return np.ascontiguousarray(signs.T, dtype=np.float32)


def rank(values: FloatArray) -> IntArray:
    """Return the arms of each row, highest value first; of equal arms, the lower number."""
    return np.argsort(-values, axis=1, kind="stable")


def agreements(users: PairSigns, orders: Signs) -> Iterator[tuple[slice, Signs]]:
    """Yield blocks of users and their sums of products with each order.

    Sums of at most k(k-1)/2 signs are whole and far below 2^24, so exact in single precision.
    O(n_users n_states k^2), in one matrix product a block.
    """
    for first in range(0, len(users), BLOCK):
        rows = slice(first, first + BLOCK)
        products: Signs = users.signs[rows].astype(np.float32, copy=False) @ orders
        yield rows, products


def nearest(users: PairSigns, orders: Signs) -> tuple[IntArray, FloatArray]:
    """Return each user's nearest order, the first of equals, and the agreement with it."""
    labels = np.empty(len(users), dtype=np.int64)
    best = np.empty(len(users))
    for rows, products in agreements(users, orders):
        labels[rows] = products.argmax(axis=1)
        best[rows] = products.max(axis=1)
    return labels, best


def distances(users: PairSigns, orders: Signs) -> FloatArray:
    """Return the distance of each user to each order: (n_users, n_states)."""
    result = np.empty((len(users), orders.shape[1]))
    scale = np.maximum(users.tried, 1.0)[:, None]
    for rows, products in agreements(users, orders):
        result[rows] = 0.5 - 0.5 * products / scale[rows]
    return result
