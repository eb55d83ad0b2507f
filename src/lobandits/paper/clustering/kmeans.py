"""KendallKMeans: latent states whose orders lie near their users' orders, from k-means++ seeds."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, whole
from lobandits.basics.progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.learning.table import check_memory
from lobandits.paper.clustering.estimator import Estimator
from lobandits.paper.clustering.impute import impute
from lobandits.paper.clustering.kendall import (
    PairSigns,
    agreements,
    distances,
    nearest,
    order_signs,
    pair_signs,
    rank,
)

MOST_USERS = 50_000  # seeds are chosen among at most so many users, drawn at random


class KendallKMeans(Estimator):
    r"""Find m orders that minimise the mean over users of Kendall's tau distance to the nearest.

    .. math:: \min_{O_1, \dots, O_m} \frac{1}{n} \sum_u \min_s d(x_u, O_s)

    where d is the share of the pairs of arms tried by the user that the order ranks oppositely,
    ties of the user by half. The paper's method: k-means, in which a state's centre is the
    average of its members' means, and its order that of the centre (of equal arms, the lower
    number first). An iteration may raise the objective; the best is kept.

    Parameters
    ----------
    n_states
        Number of states, m. Fewer are found where orders become equal.
    n_init
        Runs from different seeds; the best is kept.
    max_iter
        Iterations of a run, at most.
    random_state
        Seed of the k-means++ seeding.
    progress
        Show a progress bar, if standard error is a terminal.

    Attributes
    ----------
    rankings_ : (n_found, n_arms)
        Each state's order, best arm first; no two are equal.
    centers_ : (n_found, n_arms)
        The averages that the orders are of; a missing mean counts as the user's mean plus the
        arm's offset.
    labels_ : (n_users,)
        The state of each user.
    inertia_ : float
        The objective.
    merged_ : int
        How many states were merged into one of the same order, or lost all users.
    imputed_share_ : float
        Share of missing means.
    n_iter_ : int
        Iterations until the best.

    Notes
    -----
    Memory: n_users k(k-1)/2 bytes, the signs of all pairs of arms.

    Examples
    --------
    >>> X = [[5, 4, 1], [3.5, 3, 2], [1, 2, 5], [3, np.nan, 4]]
    >>> model = KendallKMeans(n_states=2).fit(X)
    >>> model.rankings_
    array([[0, 1, 2],
           [2, 1, 0]])
    >>> model.labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_states: int = 8,
        *,
        n_init: int = 4,
        max_iter: int = 100,
        random_state: Any = 0,
        progress: bool = False,
    ) -> None:
        self.n_states = n_states
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: None = None) -> "KendallKMeans":
        """Find the orders of users with means X (n_users, n_arms), nan where not tried."""
        n_states = whole("n_states", self.n_states)
        n_init, max_iter = whole("n_init", self.n_init), whole("max_iter", self.max_iter)
        means = self.checked(X, reset=True)
        n, k = means.shape
        pairs = k * (k - 1) // 2
        check_memory(
            (n + 8 * n_states) * pairs,
            f"comparing {n:,} users in {pairs:,} pairs of arms",
            "give fewer arms",
        )
        everybody = pair_signs(means)
        told = np.flatnonzero(everybody.tried)
        _check_enough(n_states, len(told), ~np.isnan(means))
        filled, self.imputed_share_ = impute(means)
        users = everybody
        if len(told) < len(means):
            users, filled = everybody.take(told), filled[told]
        starts = _random(self.random_state).randint(2**31, size=n_init)
        runs = []
        with progress_bar(n_init * max_iter, self.progress, "clustering", "iterations") as advance:
            for start in starts:
                seeds = plus_plus(users, filled, n_states, np.random.default_rng(start))
                runs.append(iterate(users, filled, seeds, max_iter, advance))
        self._keep(min(runs, key=lambda run: run.inertia), everybody)
        self.merged_ = n_states - len(self.rankings_)
        return self

    def _keep(self, best: "Clusters", everybody: PairSigns) -> None:
        """Store the states that have users, and everybody's nearest order."""
        sizes = np.bincount(best.labels, minlength=len(best.centers))
        self.centers_, self.rankings_ = best.centers[sizes > 0], best.rankings[sizes > 0]
        self._largest = int(sizes[sizes > 0].argmax())
        self.labels_, self.inertia_ = self._assign(everybody)
        self.n_iter_ = best.n_iter
        self._n_features_out = len(self.rankings_)

    def _assign(self, users: PairSigns) -> tuple[IntArray, float]:
        labels, agreement = nearest(users, order_signs(self.rankings_))
        labels[users.tried == 0] = self._largest
        return labels, float(users.distances(agreement).mean())

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the state of each user with means X: the nearest order, the first of equals.

        A user who tried fewer than two arms gets the state with the most users.
        """
        return self._assign(self._users(X))[0]

    def transform(self, X: ArrayLike) -> FloatArray:
        """Return the distance of each user to each state's order: (n_users, n_found)."""
        users = self._users(X)
        return distances(users, order_signs(self.rankings_))

    def score(self, X: ArrayLike, y: None = None) -> float:
        """Return minus the mean distance of the users to the nearest order."""
        return -self._assign(self._users(X))[1]

    def _users(self, X: ArrayLike) -> PairSigns:
        return pair_signs(self.checked(X, reset=False))


def _random(seed: Any) -> np.random.RandomState:
    """Return scikit-learn's kind of generator for a seed; one that is given, as it is."""
    return seed if isinstance(seed, np.random.RandomState) else np.random.RandomState(seed)


def _check_enough(n_states: int, n_told: int, tried: BoolArray) -> None:
    if not tried.any(axis=0).all():
        arms = np.flatnonzero(~tried.any(axis=0)).tolist()
        raise LobInputError(f"no user has a mean for arms {arms}; leave these columns out")
    if not tried.any(axis=1).all():
        rows = np.flatnonzero(~tried.any(axis=1))
        more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
        raise LobInputError(
            f"users {rows[:5].tolist()}{more} have no mean at all; leave these rows out"
        )
    if n_told < n_states:
        pairs = "" if n_told == len(tried) else f", of whom {n_told} tried two arms"
        raise LobInputError(
            f"n_states={n_states} needs as many users, got n_samples={len(tried)}{pairs}; "
            "lower n_states"
        )


class Clusters(NamedTuple):
    """One iterate: centres, their orders, and each user's nearest order.

    ``agreement`` is each user's sum of the signs' products with it, ``inertia`` the mean distance.
    """

    centers: FloatArray
    rankings: IntArray
    labels: IntArray
    agreement: FloatArray
    inertia: float
    n_iter: int


def iterate(
    users: PairSigns,
    values: FloatArray,
    seeds: IntArray,
    max_iter: int,
    advance: Callable[[int], None],
) -> Clusters:
    """Return the best iterate from the centres ``values`` of the users ``seeds`` on.

    Stops when a labelling comes back: at a fixed point, or in a cycle. Labels decide all that
    follows, so digests of those seen suffice.
    """
    current = best = assign(users, values[seeds], 0)
    seen = {_digest(current.labels)}
    for step in range(1, max_iter + 1):
        centers = averages(values, current.labels, len(current.centers))
        _reseed(centers, values, users.excess(current.agreement))
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


def averages(values: FloatArray, labels: IntArray, n_states: int) -> FloatArray:
    """Return the average of each state's members; nan without members."""
    counts = np.bincount(labels, minlength=n_states).astype(np.float64)
    sums = [np.bincount(labels, column, minlength=n_states) for column in values.T]
    with np.errstate(invalid="ignore"):
        return np.stack(sums, axis=1) / counts[:, None]


def _reseed(centers: FloatArray, values: FloatArray, excess: FloatArray) -> None:
    """Put each state without members at one of the users farthest from their order."""
    empty = np.flatnonzero(np.isnan(centers[:, 0]))
    if len(empty):
        farthest = np.argsort(-excess, kind="stable")
        centers[empty] = values[farthest[: len(empty)]]


def _digest(labels: IntArray) -> bytes:
    return hashlib.blake2b(labels.tobytes(), digest_size=16).digest()


def plus_plus(
    users: PairSigns, values: FloatArray, n_states: int, rng: np.random.Generator
) -> IntArray:
    """Return users (n_states,) whose ``values`` are the first centres.

    Greedy k-means++ (Arthur and Vassilvitskii 2007): each next one is drawn with probability
    proportional to its excess over the nearest order so far; of a few draws the one that lowers
    the total most is kept. Fewer come back once all excesses are 0.
    """
    known = np.arange(len(users))
    if len(users) > MOST_USERS:
        known = np.sort(rng.choice(len(users), MOST_USERS, replace=False))
    sample, orders = users.take(known), rank(values[known])
    sample = replace(sample, signs=sample.signs.astype(np.float32))  # once, not at each product
    trials = 2 + int(math.log(n_states))
    seeds = [int(rng.integers(len(known)))]
    closest = _excess(sample, orders[seeds])[:, 0]
    while len(seeds) < n_states and closest.any():
        drawn = _draw(closest, rng.random(trials))
        lowered = np.minimum(_excess(sample, orders[drawn]), closest[:, None])
        best = int(lowered.sum(axis=0).argmin())
        seeds.append(int(drawn[best]))
        closest = lowered[:, best]
    return known[seeds]


def _excess(users: PairSigns, orders: IntArray) -> FloatArray:
    signs = order_signs(orders)
    products = np.concatenate([block for _, block in agreements(users, signs)])
    return np.ascontiguousarray(users.excess(products.T).T)


def _draw(weights: FloatArray, noise: FloatArray) -> IntArray:
    """Return the places at which the shares of the total reach ``noise``, from [0, 1)."""
    sums = np.cumsum(weights)
    places = np.searchsorted(sums, noise * sums[-1], side="right")
    return np.asarray(np.minimum(places, np.flatnonzero(weights)[-1]))
