"""From logs to latent states: a prior and its orders, or the paper's clusters of orders."""

from typing import Literal

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, one_of, real, whole
from lobandits._progress import spinner
from lobandits.errors import LobInputError
from lobandits.learning.aggregate import Since
from lobandits.learning.kendall import compared_pairs, pair_signs
from lobandits.learning.kmeans import KendallKMeans
from lobandits.learning.logs import Logs, reward_table
from lobandits.learning.model import OrderModel, model_of
from lobandits.learning.prior import LearnedPrior, learn_prior
from lobandits.learning.table import RewardTable, check_memory
from lobandits.orders import LatentOrders
from lobandits.orders.closure import closure
from lobandits.orders.contexts import context_numbers

N_INIT, MAX_ITER = 4, 100  # of the paper's clustering


def learn_orders(
    logs: Logs,
    user: str = "user",
    arm: str = "arm",
    reward: str = "reward",
    n_states: int | None = None,
    *,
    context: str | None = None,
    method: Literal["prior", "kendall"] = "prior",
    centroid: Literal["mean", "borda"] = "mean",
    relations: Literal["total", "confident"] = "total",
    level: float = 0.05,
    min_user_rewards: int = 1,
    min_arm_rewards: int = 1,
    skip_empty: bool = False,
    time: str | None = None,
    since: Since | None = None,
    half_life: str | float | None = None,
    n_init: int = N_INIT,
    max_iter: int = MAX_ITER,
    seed: int = 0,
    progress: bool = False,
) -> OrderModel:
    r"""Find the latent states of users, and the orders of arms in them.

    By default a `Prior` is learned by EM, as `learn_prior` does, and the orders are those of its
    states; `OrderModel.prior` keeps it for `LobBayes`. The paper's method gives orders only: those
    that minimise the mean over users of Kendall's tau distance to the nearest.

    Parameters
    ----------
    logs, user, arm, reward, context, min_user_rewards, min_arm_rewards, skip_empty, time, since,
    half_life
        As for `reward_table`.
    n_states
        Number of states, m; by default chosen by the evidence of held-out users, and kept as
        `OrderModel.curve`. One state is a possible answer. "kendall" needs a number, and fewer
        come back where orders become equal.
    method
        "prior", or "kendall": users' mean rewards of each arm are clustered as in the paper, by
        `KendallKMeans`.
    centroid, n_init, max_iter
        For "kendall", as for `KendallKMeans`.
    relations
        "total": each state's order is that of its means. "confident": with a prior, only the
        relations that hold for at least a share of 1 - ``level`` of a state's users. With
        "kendall", only those that most members share, by one-sided sign tests with Holm's
        correction, and what follows from them; states that then have equal orders are merged.
    level
        For "confident": with a prior, the share of users, at most a half, for whom a relation may
        fail; with "kendall", the chance, at most, of any false relation in a state.
    seed
        Names all random numbers.
    progress
        Show a progress bar, if standard error is a terminal.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=200, n_arms=4, n_states=2, seed=1)
    >>> model = learn_orders(ratings.table, "userId", "genre", "rating", n_states=2)
    >>> set(model.orders) == set(ratings.orders), model.prior.shares.shape
    (True, (2,))
    """
    one_of("method", method, ("prior", "kendall"))
    one_of("relations", relations, ("total", "confident"))
    chance = _check_level(level, method)
    m = None if n_states is None else whole("n_states", n_states)
    whole("seed", seed, least=0, most=2**32 - 1)
    kmeans = _check_kmeans(method, m, centroid, n_init, max_iter, seed, progress)
    with spinner(progress, "adding up rewards"):
        table = reward_table(
            logs, user, arm, reward, context=context,
            min_user_rewards=min_user_rewards, min_arm_rewards=min_arm_rewards,
            skip_empty=skip_empty, time=time, since=since, half_life=half_life,
        )  # fmt: skip
    supported = chance if relations == "confident" else None
    if kmeans is not None:
        return _cluster(table, kmeans, supported)
    with spinner(progress, "learning the prior"):
        learned = learn_prior(table, n_states=m, seed=seed)
    return _model_of_prior(table, learned, supported)


def _check_level(level: float, method: str) -> float:
    chance = real("level", level)
    if not 0 < chance < 1:
        raise LobInputError(f"level must lie strictly between 0 and 1, got {level!r}")
    if method == "prior" and chance > 0.5:
        raise LobInputError(
            f"level is {level!r}, but a relation must hold for at least half of a state's users; "
            "give at most 0.5"
        )
    return chance


def _check_kmeans(
    method: str,
    n_states: int | None,
    centroid: Literal["mean", "borda"],
    n_init: int,
    max_iter: int,
    seed: int,
    progress: bool,
) -> KendallKMeans | None:
    """Return the paper's clustering, or None for a prior, which takes none of its options."""
    one_of("centroid", centroid, ("mean", "borda"))
    if method == "prior":
        given = {"centroid": centroid, "n_init": n_init, "max_iter": max_iter}
        for option, value in given.items():
            if value != {"centroid": "mean", "n_init": N_INIT, "max_iter": MAX_ITER}[option]:
                raise LobInputError(
                    f"{option}={value!r} is an option of the paper's clustering; give it with "
                    "method='kendall'"
                )
        return None
    if n_states is None:
        raise LobInputError(
            "method='kendall' needs the number of states; give n_states, or take method='prior', "
            "which chooses it on held-out users"
        )
    return KendallKMeans(
        n_states, centroid=centroid, n_init=n_init, max_iter=max_iter,
        random_state=seed, progress=progress,
    )  # fmt: skip


def _model_of_prior(table: RewardTable, learned: LearnedPrior, level: float | None) -> OrderModel:
    """Return the model whose states are those of the prior, even where orders are equal."""
    prior = learned.prior
    return OrderModel(
        orders=prior.orders if level is None else prior.sure_orders(1 - level),
        users=table.users,
        labels=learned.labels,
        sizes=np.bincount(learned.labels, minlength=prior.n_states),
        state_means=prior.means,
        imputed_share=0.0,
        sigma=prior.sigma,
        sigma_from=learned.sigma_from,
        merged=0,
        prior=prior,
        curve=learned.curve,
    )


def _cluster(table: RewardTable, kmeans: KendallKMeans, level: float | None) -> OrderModel:
    """Return the model of the paper's clusters."""
    _check_told(table, kmeans.n_states)
    pairs = table.n_arms * (table.n_arms - 1) // 2
    check_memory(
        (table.n_users + 8 * kmeans.n_states) * pairs,
        f"comparing {table.n_users:,} users in {pairs:,} pairs of arms",
        "is this the column of arms? If so, drop rare ones (min_arm_rewards)",
    )
    contexts = context_numbers(table.arms)
    kmeans.set_params(contexts=contexts).fit(table.means)
    orders = LatentOrders.from_rankings(kmeans.rankings_.tolist(), arms=table.arms)
    orders, labels = orders.within_contexts(), kmeans.labels_
    if level is not None:
        kept = confident_relations(table.means, labels, orders.precedes, level, contexts)
        distinct, labels = _merge(kept, labels)
        orders = LatentOrders(distinct, table.arms)
    return model_of(table, orders, labels, merged=kmeans.n_states - orders.n_states)


def _check_told(table: RewardTable, n_states: int) -> None:
    told = n_told(table)
    if told < n_states:
        raise LobInputError(
            f"n_states is {n_states}, but only {told} of {table.n_users} users tried two arms or "
            f"more; ask for at most {told} states, or give more users"
        )


def n_told(table: RewardTable) -> int:
    """Return how many users tried two arms or more of a context, and so tell of an order."""
    numbers = context_numbers(table.arms)
    contexts = np.zeros(table.n_arms, np.int64) if numbers is None else numbers
    tried = [np.count_nonzero(table.counts[:, contexts == c], axis=1) for c in set(contexts)]
    return int((np.max(tried, axis=0) >= 2).sum())


def _merge(precedes: BoolArray, labels: IntArray) -> tuple[BoolArray, IntArray]:
    """Return the distinct orders, in order of appearance, and the labels among them."""
    found: dict[bytes, int] = {}
    place = [found.setdefault(order.tobytes(), len(found)) for order in precedes]
    first = [place.index(s) for s in range(len(found))]
    return precedes[first], np.array(place)[labels]


def confident_relations(
    means: FloatArray,
    labels: IntArray,
    precedes: BoolArray,
    level: float,
    contexts: IntArray | None = None,
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
    first, second = compared_pairs(means.shape[1], contexts)
    for s, order in enumerate(precedes):
        signs = pair_signs(means[labels == s], contexts).signs
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
