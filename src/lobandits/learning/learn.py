"""learn_orders: from logs to the orders of m latent states."""

from typing import Literal

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, one_of, whole
from lobandits._progress import spinner
from lobandits.errors import LobInputError
from lobandits.learning.centroids import MeanCentroid
from lobandits.learning.confident import checked_level, confident_relations
from lobandits.learning.imputation import impute
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import OrderModel
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders


def learn_orders(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    n_states: int = 8,
    *,
    centroid: Literal["mean", "borda"] = "mean",
    relations: Literal["total", "confident"] = "total",
    level: float = 0.05,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    n_init: int = 4,
    max_iter: int = 100,
    seed: int = 0,
    progress: bool = False,
) -> OrderModel:
    r"""Find m orders that minimise the mean over users of Kendall's tau distance to the nearest.

    Users' mean rewards of each arm are clustered as in the paper, by `KendallKMeans`.

    Parameters
    ----------
    logs, user, arm, reward, min_user_rewards, min_arm_rewards
        The rewards, the names of their columns, and how many a user or an arm must have; see
        `reward_table`.
    n_states
        Number of states, m. Fewer come back where orders become equal.
    centroid, n_init, max_iter, seed
        How to cluster; see `KendallKMeans`.
    relations
        "total": each state's order is that of its centre, as in the paper. "confident": of its
        relations only those that most members share, by one-sided sign tests with Holm's
        correction, and what follows from them. States that then have equal orders are merged.
    level
        For "confident": the chance, at most, of any false relation in a state.
    progress
        Show what is being done, and a progress bar, if standard error is a terminal.

    Examples
    --------
    >>> import polars as pl
    >>> logs = pl.DataFrame({
    ...     "userId": [1, 1, 1, 2, 2, 2, 3, 3],
    ...     "genre": ["drama", "war", "noir", "drama", "war", "noir", "war", "noir"],
    ...     "rating": [5, 4, 1, 4, 3, 2, 2, 5],
    ... })
    >>> model = learn_orders(logs, "userId", "genre", "rating", n_states=2)
    >>> print(model.orders)
    state 0: drama > war > noir
    state 1: noir > drama > war
    >>> print(f"{model.imputed_share:.2f}")
    0.11
    """
    confident = one_of("relations", relations, ("total", "confident")) == "confident"
    level = checked_level(level)
    kmeans = KendallKMeans(
        whole("n_states", n_states), centroid=centroid, n_init=n_init, max_iter=max_iter,
        random_state=whole("seed", seed, least=0, most=2**32 - 1), progress=progress,
    )  # fmt: skip
    with spinner(progress, "adding up rewards"):
        table = reward_table(
            logs, user, arm, reward,
            min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        )  # fmt: skip
    _check_states(n_states, table)
    kmeans.fit(table.means)
    orders = LatentOrders.from_rankings(kmeans.rankings_.tolist(), arms=table.arms)
    labels = kmeans.labels_
    if confident:
        kept = confident_relations(table.means, labels, orders.precedes, level)
        distinct, labels = _merge(kept, labels)
        orders = LatentOrders(distinct, table.arms)
    return make_model(table, orders, labels, merged=n_states - orders.n_states)


def make_model(
    table: RewardTable, orders: LatentOrders, labels: IntArray, merged: int
) -> OrderModel:
    """Return the model of states with these members."""
    filled, share = impute(table.means)
    averages: FloatArray = MeanCentroid(filled).update(labels, np.empty((orders.n_states, 0)))
    return OrderModel(orders, table.users, labels, averages, share, table.noise(), merged)


def n_told(table: RewardTable) -> int:
    """Return how many users tried two arms or more, which is what tells of an order."""
    return int((np.count_nonzero(table.counts, axis=1) >= 2).sum())


def _check_states(n_states: int, table: RewardTable) -> None:
    told = n_told(table)
    if told < n_states:
        raise LobInputError(
            f"n_states is {n_states}, but only {told} of {table.n_users} users tried two arms or "
            f"more; ask for at most {told} states, or give more users"
        )


def _merge(precedes: BoolArray, labels: IntArray) -> tuple[BoolArray, IntArray]:
    """Return the distinct orders, in order of appearance, and the labels among them."""
    found: dict[bytes, int] = {}
    place = [found.setdefault(order.tobytes(), len(found)) for order in precedes]
    first = [place.index(s) for s in range(len(found))]
    return precedes[first], np.array(place)[labels]
