"""From logs to the orders of latent states: by clustering, or read off where that is safe."""

from typing import Literal

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, one_of, real, whole
from lobandits._progress import spinner
from lobandits.errors import LobInputError
from lobandits.learning.centroids import averages
from lobandits.learning.imputation import impute
from lobandits.learning.kendall import pair_signs, rank
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import OrderModel
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders
from lobandits.orders.arms import counted
from lobandits.orders.tables import closure

SHOWN = 3


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
    told = n_told(table)
    if told < n_states:
        raise LobInputError(
            f"n_states is {n_states}, but only {told} of {table.n_users} users tried two arms or "
            f"more; ask for at most {told} states, or give more users"
        )
    kmeans.fit(table.means)
    orders = LatentOrders.from_rankings(kmeans.rankings_.tolist(), arms=table.arms)
    labels = kmeans.labels_
    if relations == "confident":
        kept = confident_relations(table.means, labels, orders.precedes, chance)
        distinct, labels = _merge(kept, labels)
        orders = LatentOrders(distinct, table.arms)
    return _model(table, orders, labels, merged=n_states - orders.n_states)


def n_told(table: RewardTable) -> int:
    """Return how many users tried two arms or more, and so tell of an order."""
    return int((np.count_nonzero(table.counts, axis=1) >= 2).sum())


def _merge(precedes: BoolArray, labels: IntArray) -> tuple[BoolArray, IntArray]:
    """Return the distinct orders, in order of appearance, and the labels among them."""
    found: dict[bytes, int] = {}
    place = [found.setdefault(order.tobytes(), len(found)) for order in precedes]
    first = [place.index(s) for s in range(len(found))]
    return precedes[first], np.array(place)[labels]


def _model(table: RewardTable, orders: LatentOrders, labels: IntArray, merged: int) -> OrderModel:
    filled, share = impute(table.means)
    means = averages(filled, labels, orders.n_states)
    return OrderModel(orders, table.users, labels, means, share, table.noise(), merged)


def confident_relations(
    means: FloatArray, labels: IntArray, precedes: BoolArray, level: float
) -> BoolArray:
    r"""Keep of each state's total order the relations that its members support, (m, k, k).

    For arms a above b, let n members have :math:`x_a \ne x_b`, and W of them
    :math:`x_a > x_b`. The one-sided sign test of "at most half of the members prefer a" has

    .. math:: p_{ab} = P(\mathrm{Bin}(n, 1/2) \ge W)

    Holm's step-down over all pairs keeps the chance of any false relation in a state below
    ``level``; transitivity then adds what follows, without cycles, as only relations of the total
    order are tested. The level is nominal: members formed the states, so they agree more than
    new users will.
    """
    from scipy.stats import binom

    kept = np.zeros_like(precedes)
    first, second = np.triu_indices(means.shape[1], 1)
    for s, order in enumerate(precedes):
        signs = pair_signs(means[labels == s]).signs
        wins, losses = ((signs == sign).sum(axis=0) for sign in (1, -1))
        down = order[first, second]
        above, below = np.where(down, (first, second), (second, first))
        p = binom.sf(np.where(down, wins, losses) - 1, wins + losses, 0.5)
        supported = holm(p, level)
        kept[s, above[supported], below[supported]] = True
    return closure(kept)


def holm(p: FloatArray, level: float) -> BoolArray:
    """Return which hypotheses Holm's step-down rejects: the smallest p first, until one holds."""
    order = np.argsort(p, kind="stable")
    passed = p[order] <= level / np.arange(len(p), 0, -1)
    rejected = np.zeros(len(p), dtype=np.bool_)
    rejected[order[np.logical_and.accumulate(passed)]] = True
    return rejected


def exact_orders(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    *,
    min_rewards: int | None = None,
) -> OrderModel:
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
    >>> model = exact_orders(pl.DataFrame(logs))
    >>> print(model.orders)
    state 0: y > x
    state 1: x > y
    >>> model.labels
    array([0, 1, 0])
    """
    least = 1 if min_rewards is None else whole("min_rewards", min_rewards)
    table = reward_table(logs, user, arm, reward)
    _check_exact(table, least)
    rankings = rank(table.means)
    found, labels, sizes = np.unique(rankings, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    orders = LatentOrders.from_rankings(found[order].tolist(), arms=table.arms)
    return _model(table, orders, np.argsort(order)[labels.ravel()], merged=0)


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
            f"arm, but {_listed(cells, len(few))}. Leave such users or arms out, or use "
            "learn_orders"
        )
    tied = np.flatnonzero((np.diff(np.sort(table.means, axis=1)) == 0).any(axis=1))
    if tied.size:
        names = [f"user {user!r}" for user in table.users[tied[:SHOWN]].tolist()]
        raise LobInputError(
            f"some users' means of two arms are equal, which leaves their order open: "
            f"{_listed(names, tied.size)}. Leave such users out, or use learn_orders"
        )


def _listed(shown: list[str], number: int) -> str:
    more = number - len(shown)
    return "; ".join(shown) + (f"; and {more:,} more" if more else "")
