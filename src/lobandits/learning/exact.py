"""exact_orders: reading off the orders where every user has enough rewards."""

from typing import Any

import numpy as np

from lobandits._checks import BoolArray, FloatArray, whole
from lobandits.errors import LobInputError
from lobandits.learning.kendall import rank
from lobandits.learning.learn import make_model
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import OrderModel
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders

SHOWN = 3


def exact_orders(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    min_rewards: int | None = None,
) -> OrderModel:
    """Return the distinct orders of the users' mean rewards: {order(mean_u) : users u}.

    The paper's appendix on identifiability: with enough rewards from every user for every arm,
    each user's own order is right, and the distinct ones are the latent states' orders. There
    are no distances and no number of states to choose. `samples_for_exact_orders` says how many
    rewards are enough.

    Parameters
    ----------
    logs, user, arm, reward
        The rewards, and the names of their columns; see `reward_table`.
    min_rewards
        Refuse the logs if some user has fewer rewards from some arm; by default 1.

    Returns
    -------
    OrderModel
        The state with the most users comes first.

    Examples
    --------
    >>> import polars as pl
    >>> logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "y"] * 3, "reward": [1, 2, 4, 2, 4, 5]}
    >>> model = exact_orders(pl.DataFrame(logs))
    >>> print(model.orders)
    state 0: y > x
    state 1: x > y
    >>> model.labels
    array([0, 1, 0])
    """
    least = 1 if min_rewards is None else whole("min_rewards", min_rewards)
    table = reward_table(logs, user, arm, reward)
    _check_cells(table, least)
    rankings = rank(table.means)
    _check_ties(table, np.take_along_axis(table.means, rankings, axis=1))
    found, labels, sizes = np.unique(rankings, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    orders = LatentOrders.from_rankings(found[order].tolist(), arms=table.arms)
    return make_model(table, orders, np.argsort(order)[labels.ravel()], merged=0)


def _check_cells(table: RewardTable, least: int) -> None:
    few = table.counts < least
    if few.any():
        cells = [
            f"user {table.users[u]!r} has {table.counts[u, a]} from {table.arms[a]!r}"
            for u, a in np.argwhere(few)[:SHOWN].tolist()
        ]
        raise LobInputError(
            f"exact orders need at least {least} rewards from every user for every arm, but "
            f"{_listed(cells, few)}. Leave such users or arms out, or use learn_orders"
        )


def _check_ties(table: RewardTable, descending: FloatArray) -> None:
    tied = (np.diff(descending, axis=1) == 0).any(axis=1)
    if tied.any():
        users = [f"user {table.users[u]!r}" for u in np.flatnonzero(tied)[:SHOWN]]
        raise LobInputError(
            f"some users' means of two arms are equal, which leaves their order open: "
            f"{_listed(users, tied)}. Leave such users out, or use learn_orders"
        )


def _listed(shown: list[Any], faulty: BoolArray) -> str:
    more = int(faulty.sum()) - len(shown)
    return "; ".join(shown) + (f"; and {more:,} more" if more else "")
