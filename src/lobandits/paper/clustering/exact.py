"""Orders read off users' means, where every user has rewards enough from every arm."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import IntArray, whole
from lobandits.basics.words import counted
from lobandits.errors import LobInputError
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders
from lobandits.paper.clustering.kendall import rank

SHOWN = 3


class ExactOrders(NamedTuple):
    """The distinct orders of users (m states), and who has which."""

    orders: LatentOrders
    users: NDArray[Any]  # (n,): as in the logs
    labels: IntArray  # (n,): the state of each user
    sizes: IntArray  # (m,): the number of users of each state


def exact_orders(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    min_rewards: int | None = None,
) -> ExactOrders:
    """Return the distinct orders of the users' mean rewards: {order(mean_u) : users u}.

    The paper's appendix on identifiability: with enough rewards from every user for every arm
    (see `samples_for_exact_orders`) these are the latent states' orders. The one with the most
    users comes first.

    Parameters
    ----------
    logs, user, arm, reward
        As for `reward_table`.
    min_rewards
        Refuse the logs if some user has fewer rewards from some arm; by default 1.

    Examples
    --------
    >>> import polars as pl
    >>> logs = {"user": [1, 1, 2, 2, 3, 3], "arm": ["x", "y"] * 3, "reward": [1, 2, 4, 2, 4, 5]}
    >>> found = exact_orders(pl.DataFrame(logs))
    >>> print(found.orders)
    state 0: y > x
    state 1: x > y
    >>> found.labels
    array([0, 1, 0])
    """
    least = 1 if min_rewards is None else whole("min_rewards", min_rewards)
    table = reward_table(logs, user, arm, reward)
    _check_exact(table, least)
    rankings = rank(table.means)
    found, labels, sizes = np.unique(rankings, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    orders = LatentOrders.from_rankings(found[order].tolist(), arms=table.arms)
    return ExactOrders(orders, table.users, np.argsort(order)[labels.ravel()], sizes[order])


def _check_exact(table: RewardTable, least: int) -> None:
    """Refuse users with fewer than ``least`` rewards from some arm, or with equal means."""
    few = np.argwhere(table.counts < least)
    if few.size:
        users = table.users.tolist()
        cells = [
            f"user {users[u]!r} has {table.counts[u, a]} from {table.arms[a]!r}"
            for u, a in few[:SHOWN]
        ]
        raise LobInputError(
            f"exact orders need at least {counted(least, 'reward')} from every user for every "
            f"arm, but {_listed(cells, len(few))}. Leave such users or arms out, or use learn"
        )
    tied = np.flatnonzero((np.diff(np.sort(table.means, axis=1)) == 0).any(axis=1))
    if tied.size:
        names = [f"user {user!r}" for user in table.users[tied[:SHOWN]].tolist()]
        raise LobInputError(
            f"some users' means of two arms are equal, which leaves their order open: "
            f"{_listed(names, tied.size)}. Leave such users out, or use learn"
        )


def _listed(shown: list[str], number: int) -> str:
    more = number - len(shown)
    return "; ".join(shown) + (f"; and {more:,} more" if more else "")
