"""From logs to the orders of latent states, by clustering."""

from typing import Literal

import numpy as np

from lobandits._checks import BoolArray, IntArray, one_of, real, whole
from lobandits._progress import spinner
from lobandits.errors import LobInputError
from lobandits.learning.confidence import confident_relations
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import OrderModel, model_of
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
        As for `reward_table`.
    n_states
        Number of states, m. Fewer come back where orders become equal.
    centroid, n_init, max_iter, seed
        As for `KendallKMeans`.
    relations
        "total": each state's order is that of its centre, as in the paper. "confident": only
        the relations that most members share, by one-sided sign tests with Holm's correction,
        and what follows from them. States that then have equal orders are merged.
    level
        For "confident": the chance, at most, of any false relation in a state.
    progress
        Show a progress bar, if standard error is a terminal.

    Examples
    --------
    >>> import polars as pl
    >>> arms = ["drama", "war", "noir", "drama", "war", "noir", "war", "noir"]
    >>> logs = {"id": [1, 1, 1, 2, 2, 2, 3, 3], "genre": arms, "stars": [5, 4, 1, 4, 3, 2, 2, 5]}
    >>> model = learn_orders(pl.DataFrame(logs), "id", "genre", "stars", n_states=2)
    >>> print(model.orders)
    state 0: drama > war > noir
    state 1: noir > drama > war
    """
    one_of("relations", relations, ("total", "confident"))
    chance = real("level", level)
    if not 0 < chance < 1:
        raise LobInputError(f"level must lie strictly between 0 and 1, got {level!r}")
    kmeans = KendallKMeans(
        whole("n_states", n_states), centroid=centroid, n_init=n_init, max_iter=max_iter,
        random_state=whole("seed", seed, least=0, most=2**32 - 1), progress=progress,
    )  # fmt: skip
    with spinner(progress, "adding up rewards"):
        table = reward_table(
            logs, user, arm, reward,
            min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
        )  # fmt: skip
    _check_told(table, n_states)
    kmeans.fit(table.means)
    orders = LatentOrders.from_rankings(kmeans.rankings_.tolist(), arms=table.arms)
    labels = kmeans.labels_
    if relations == "confident":
        kept = confident_relations(table.means, labels, orders.precedes, chance)
        distinct, labels = _merge(kept, labels)
        orders = LatentOrders(distinct, table.arms)
    return model_of(table, orders, labels, merged=n_states - orders.n_states)


def _check_told(table: RewardTable, n_states: int) -> None:
    told = n_told(table)
    if told < n_states:
        raise LobInputError(
            f"n_states is {n_states}, but only {told} of {table.n_users} users tried two arms or "
            f"more; ask for at most {told} states, or give more users"
        )


def n_told(table: RewardTable) -> int:
    """Return how many users tried two arms or more, and so tell of an order."""
    return int((np.count_nonzero(table.counts, axis=1) >= 2).sum())


def _merge(precedes: BoolArray, labels: IntArray) -> tuple[BoolArray, IntArray]:
    """Return the distinct orders, in order of appearance, and the labels among them."""
    found: dict[bytes, int] = {}
    place = [found.setdefault(order.tobytes(), len(found)) for order in precedes]
    first = [place.index(s) for s in range(len(found))]
    return precedes[first], np.array(place)[labels]
