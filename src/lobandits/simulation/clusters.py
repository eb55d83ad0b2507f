"""Users in latent states: clustered by their orders, some of them held out from learning."""

from typing import NamedTuple

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray
from lobandits._words import counted
from lobandits.errors import LobInputError
from lobandits.learning import KendallKMeans, RewardTable
from lobandits.learning.table import impute
from lobandits.orders import LatentOrders


class Clusters(NamedTuple):
    """All users, each in the state with the nearest order; those held out taught no order.

    ``raw`` are users' means, imputed where there are none; ``centers`` have the states' orders.
    """

    raw: FloatArray
    imputed_share: float
    states: IntArray
    orders: LatentOrders
    centers: FloatArray
    held_out: BoolArray


def cluster_users(
    table: RewardTable, n_states: int, hold_out: float, seed: int, progress: bool
) -> Clusters:
    """Learn the states from users who are not held out; find the nearest state of all users."""
    held_out = choose_held_out(table.n_users, hold_out, seed)
    _check_learners(table, ~held_out, n_states)
    kmeans = KendallKMeans(n_states, random_state=seed, progress=progress)
    kmeans.fit(table.means[~held_out])
    orders = LatentOrders.from_rankings(kmeans.rankings_.tolist(), table.arms)
    states = kmeans.predict(table.means)
    return Clusters(*impute(table.means), states, orders, kmeans.centers_, held_out)


def choose_held_out(n_users: int, share: float, seed: int) -> BoolArray:
    """Return which users are held out, at least one if any."""
    n = max(round(share * n_users), 1) if share > 0 else 0
    chosen = np.zeros(n_users, dtype=np.bool_)
    chosen[np.random.default_rng([seed, n_users]).permutation(n_users)[:n]] = True
    return chosen


def _check_learners(table: RewardTable, learners: BoolArray, n_states: int) -> None:
    n_learners = int(learners.sum())
    if table.n_arms < 2:
        raise LobInputError(
            f"the ratings are of {counted(table.n_arms, 'arm')}, {list(table.arms)}; orders "
            "need two"
        )
    if n_learners < n_states:
        raise LobInputError(
            f"n_states is {n_states:,}, but there are only {n_learners:,} users to learn "
            "from; lower n_states, hold_out or min_user_ratings"
        )
    untried = np.flatnonzero(~table.counts[learners].any(axis=0))
    if untried.size:
        raise LobInputError(
            f"nobody who is not held out tried the arm {table.arms[untried[0]]!r}; lower "
            "hold_out, or choose another seed"
        )
