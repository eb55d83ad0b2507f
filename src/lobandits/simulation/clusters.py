"""Users of a table of rewards in states: what the real-data environment is made of."""

from dataclasses import dataclass

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits.errors import LobInputError
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.table import RewardTable, impute
from lobandits.orders import LatentOrders
from lobandits.orders.arms import counted
from lobandits.projection import project


@dataclass(frozen=True, eq=False)
class Clusters:
    """Every user's raw means and nearest state.

    Attributes
    ----------
    raw
        Each user's mean of each arm, of shape (n_users, n_arms); imputed where there is none.
    imputed_share
        The share of such cells.
    states
        Each user's state: the nearest order.
    orders
        The states' orders, learned from the users who are not held out.
    centers
        The averages that the orders are of, (n_states, n_arms).
    held_out
        Which users had no part in learning.
    """

    raw: FloatArray
    imputed_share: float
    states: IntArray
    orders: LatentOrders
    centers: FloatArray
    held_out: BoolArray

    def projected(self, min_gap: float) -> FloatArray:
        """Return the nearest means that keep the order of the user's state, (n_users, n_arms)."""
        means = np.empty_like(self.raw)
        for state, order in enumerate(self.orders):
            members = self.states == state
            means[members] = project(self.raw[members], 1.0, order, min_gap=min_gap)
        return means

    def state_means(self, means: FloatArray) -> FloatArray:
        """Return the average of ``means`` over each state's users who had a part in learning.

        A state that lost its last user to a tie with another one keeps its centre.
        """
        learners = ~self.held_out
        sums = np.zeros_like(self.centers)
        np.add.at(sums, self.states[learners], means[learners])
        sizes = np.bincount(self.states[learners], minlength=len(sums))[:, None]
        return np.where(sizes > 0, sums / np.maximum(sizes, 1), self.centers)

    def violated(self, means: FloatArray) -> IntArray:
        """Return how many neighbours in the order of the user's state have the wrong order."""
        rankings = np.array([order.ranking for order in self.orders])[self.states]
        ranked = np.take_along_axis(means, rankings, axis=1)
        wrong: IntArray = np.count_nonzero(ranked[:, 1:] > ranked[:, :-1], axis=1)
        return wrong


def cluster(
    table: RewardTable, n_states: int, hold_out: float, seed: int, progress: bool
) -> Clusters:
    """Learn ``n_states`` orders from all users but a random share ``hold_out``; place everybody."""
    if table.n_arms < 2:
        raise LobInputError(
            f"the ratings are of {counted(table.n_arms, 'arm')}, {list(table.arms)}; orders need "
            "two"
        )
    held_out = _held_out(table.n_users, hold_out, seed)
    n_learners = int((~held_out).sum())
    if n_learners < n_states:
        raise LobInputError(
            f"n_states is {n_states:,}, but there are only {n_learners:,} users to learn from; "
            "lower n_states, hold_out or min_user_ratings"
        )
    untried = np.flatnonzero(~table.counts[~held_out].any(axis=0))
    if untried.size:
        raise LobInputError(
            f"nobody who is not held out tried the arm {table.arms[untried[0]]!r}; lower "
            "hold_out, or choose another seed"
        )
    kmeans = KendallKMeans(n_states, random_state=seed, progress=progress)
    kmeans.fit(table.means[~held_out])
    raw, imputed_share = impute(table.means)
    return Clusters(
        raw=raw,
        imputed_share=imputed_share,
        states=kmeans.predict(table.means),
        orders=LatentOrders.from_rankings(kmeans.rankings_.tolist(), table.arms),
        centers=kmeans.centers_,
        held_out=held_out,
    )


def _held_out(n_users: int, share: float, seed: int) -> BoolArray:
    """Return which users are held out: at least one if any."""
    n = max(round(share * n_users), 1) if share > 0 else 0
    chosen = np.zeros(n_users, dtype=np.bool_)
    chosen[np.random.default_rng([seed, n_users]).permutation(n_users)[:n]] = True
    return chosen
