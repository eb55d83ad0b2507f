"""KendallKMeans: latent states whose orders lie near their users' orders, and their centres."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.base import TransformerMixin as Transformer
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from lobandits._checks import BoolArray, FloatArray, IntArray, one_of, whole
from lobandits._progress import progress_bar
from lobandits.errors import LobInputError
from lobandits.learning.kendall import (
    Centroid,
    Clusters,
    PairSigns,
    distances,
    iterate,
    nearest,
    order_signs,
    pair_signs,
    plus_plus,
    rank,
)
from lobandits.learning.table import impute


class KendallKMeans(ClassNamePrefixFeaturesOutMixin, Transformer, ClusterMixin, BaseEstimator):  # type: ignore[misc]
    r"""Find m orders that minimise the mean over users of Kendall's tau distance to the nearest.

    .. math:: \min_{O_1, \dots, O_m} \frac{1}{n} \sum_u \min_s d(x_u, O_s)

    where d is the share of the pairs of arms tried by the user that the order ranks oppositely,
    ties of the user by half. The paper's method: k-means, in which a state's centre is the
    average of its members' means, and its order that of the centre (of equal arms, the lower
    number first).

    Parameters
    ----------
    n_states
        Number of states, m. Fewer are found where orders become equal.
    centroid
        "mean": the members' average, as in the paper; an iteration may raise the objective, and
        the best is kept. "borda": the members' average of Borda scores (arms below less arms
        above), unless the old order is nearer to the members; no iteration raises the objective.
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
        centroid: Literal["mean", "borda"] = "mean",
        n_init: int = 4,
        max_iter: int = 100,
        random_state: Any = 0,
        progress: bool = False,
    ) -> None:
        self.n_states = n_states
        self.centroid = centroid
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: None = None) -> "KendallKMeans":
        """Find the orders of users with means X (n_users, n_arms), nan where not tried."""
        n_states = whole("n_states", self.n_states)
        one_of("centroid", self.centroid, ("mean", "borda"))
        n_init, max_iter = whole("n_init", self.n_init), whole("max_iter", self.max_iter)
        means = self._checked(X, reset=True)
        everybody = pair_signs(means)
        told = np.flatnonzero(everybody.tried)
        _check_enough(n_states, len(told), ~np.isnan(means))
        filled, self.imputed_share_ = impute(means)
        users = everybody
        if len(told) < len(means):
            users, filled, means = everybody.take(told), filled[told], means[told]
        centroid: Centroid = MeanCentroid(filled)
        if self.centroid == "borda":
            centroid = BordaCentroid(borda_scores(filled), users, ~np.isnan(means))
        random = check_random_state(self.random_state)
        runs = []
        with progress_bar(n_init * max_iter, self.progress, "clustering", "iterations") as advance:
            for seed in random.randint(2**31, size=n_init):
                seeds = plus_plus(users, centroid.values, n_states, np.random.default_rng(seed))
                runs.append(iterate(users, centroid, seeds, max_iter, advance))
        self._keep(min(runs, key=lambda run: run.inertia), everybody)
        self.merged_ = n_states - len(self.rankings_)
        return self

    def _keep(self, best: Clusters, everybody: PairSigns) -> None:
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
        return distances(self._users(X), order_signs(self.rankings_))

    def score(self, X: ArrayLike, y: None = None) -> float:
        """Return minus the mean distance of the users to the nearest order."""
        return -self._assign(self._users(X))[1]

    def _users(self, X: ArrayLike) -> PairSigns:
        check_is_fitted(self)
        return pair_signs(self._checked(X, reset=False))

    def _checked(self, X: ArrayLike, reset: bool) -> FloatArray:
        means: FloatArray = validate_data(
            self, X, reset=reset, dtype=np.float64,
            ensure_all_finite="allow-nan", ensure_min_features=2 if reset else 1,
        )  # fmt: skip
        return means

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


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


class MeanCentroid(NamedTuple):
    """The paper's: the average of the members' means."""

    values: FloatArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' averages."""
        return averages(self.values, labels, len(centers))


def averages(values: FloatArray, labels: IntArray, n_states: int) -> FloatArray:
    """Return the average of each state's members; nan without members."""
    counts = np.bincount(labels, minlength=n_states).astype(np.float64)
    sums = [np.bincount(labels, column, minlength=n_states) for column in values.T]
    with np.errstate(invalid="ignore"):
        return np.stack(sums, axis=1) / counts[:, None]


class BordaCentroid(NamedTuple):
    r"""Borda scores: over all other arms b, the sum of the members' average of sign(x_a - x_b).

    Members who tried both arms count, with weight :math:`1 / |P_u|`. An order is replaced only
    by a nearer one, so that neither step of k-means can raise the objective.
    """

    values: FloatArray
    users: PairSigns
    tried: BoolArray

    def update(self, labels: IntArray, centers: FloatArray) -> FloatArray:
        """Return the members' scores, or the old centre where its order is as near."""
        result = np.full_like(centers, np.nan)
        for s in np.unique(labels):
            members = np.flatnonzero(labels == s)
            # Their distances to an order sum to a constant less half of its signs times margins.
            margins = (1.0 / self.users.tried[members]) @ self.users.signs[members]
            scores = self._scores(members, margins)
            old, new = order_signs(rank(np.stack([centers[s], scores]))).T.astype(np.float64)
            result[s] = scores if margins @ new > margins @ old else centers[s]
        return result

    def _scores(self, members: IntArray, margins: FloatArray) -> FloatArray:
        tried = self.tried[members].astype(np.float64)
        pairs = (tried.T / self.users.tried[members]) @ tried
        matrix = np.zeros_like(pairs)
        upper = np.triu_indices(len(pairs), 1)
        matrix[upper] = margins / np.where(pairs[upper] > 0, pairs[upper], 1.0)
        return np.asarray((matrix - matrix.T).sum(axis=1))


def borda_scores(means: FloatArray) -> FloatArray:
    """Return the number of arms below each arm less those above it, for each user."""
    scores = np.zeros_like(means)
    for a in range(means.shape[1]):
        scores[:, a] = np.sign(means[:, a : a + 1] - means).sum(axis=1)
    return scores
