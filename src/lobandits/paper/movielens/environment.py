"""The paper's real-data environment: users choose genres of movies, and rate them.

Their latent states are clusters by their orders; some users are held out from learning.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    fraction,
    not_negative,
    positive,
    whole,
)
from lobandits.basics.words import counted
from lobandits.errors import LobInputError
from lobandits.learning import RewardTable, reward_table
from lobandits.learning.generated import GeneratedRows
from lobandits.orders import LatentOrders
from lobandits.paper.clustering import KendallKMeans
from lobandits.paper.clustering.impute import impute
from lobandits.paper.movielens.genres import genre_table
from lobandits.paper.movielens.ratings import MovieLensRatings
from lobandits.projection import project
from lobandits.simulation.past_users import PAST_REWARDS, PastUsers
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import Stream

FILTERS = ("ratings", "min_movie_ratings", "min_user_ratings", "seed")
CLUSTERING = (*FILTERS, "n_states", "hold_out")
DECIDES = {  # what is computed once, by the options that decide it
    "edition": ("ratings",),
    "table": FILTERS,
    "clusters": CLUSTERING,
    "projected": (*CLUSTERING, "min_gap"),
    "past": (*CLUSTERING, "min_gap", "alpha", "sigma", "past_rewards"),
}


@dataclass(frozen=True, eq=False, repr=False)
class MovieLens:
    r"""Users of MovieLens: an arm is a genre, its mean the user's average rating of its movies.

    .. math:: \mu^i = \alpha \mu^{0,i} + (1 - \alpha) \, \mathrm{proj}_{s_i}(\mu^{0,i})

    where :math:`\mu^{0,i}` are user i's genre means, and proj is the projection on the order of
    the user's state :math:`s_i`, found by :class:`lobandits.KendallKMeans`. Rewards are Gaussian.
    Ratings are read, summed up and clustered on first use, and kept.

    Parameters
    ----------
    ratings
        What :func:`lobandits.load_movielens` or :func:`lobandits.make_ratings` returned, or the
        :class:`lobandits.RewardTable` of any users and arms.
    n_states
        m; fewer are found where orders become equal.
    alpha
        Share of the raw means, from 0 (the paper's Setting A: the orders hold) to 1 (Setting B).
    sigma
        As in :class:`lobandits.Synthetic`.
    min_movie_ratings, min_user_ratings
        Of MovieLens, leave out movies with fewer ratings, then users with fewer of the rest.
    min_gap
        Least gap between neighbours in the projected means.
    seed
        Names the one genre of movies that have several, the clustering and the users held out.
    hold_out
        Share of users that have no part in learning; then only these are in play. The paper's: 0.
    past_rewards
        With users held out, policies may know a prior, learned from so many rewards of each other
        user: of random genres, with the means and the noise of this environment.
    progress
        Show a progress bar, if standard error is a terminal.

    Notes
    -----
    A genre that a user never rated has the user's mean plus the genre's offset. Latent-bandit
    policies believe in the average of a state's users' means, held-out users aside.

    Examples
    --------
    >>> import lobandits as lob
    >>> env = lob.MovieLens(lob.make_ratings(n_users=300, n_arms=6, n_states=4), n_states=4)
    >>> env.sample(2, seed=0)
    Problems(n_users=2, n_arms=6, n_states=4, sigma=2, rewards='gaussian')
    """

    ratings: MovieLensRatings | GeneratedRows | RewardTable
    n_states: int = 60
    alpha: float = 0.0
    sigma: float = 2.0
    min_movie_ratings: int = 200
    min_user_ratings: int = 200
    min_gap: float = 0.01
    seed: int = 0
    hold_out: float = 0.0
    progress: bool = True
    past_rewards: int = PAST_REWARDS

    def __post_init__(self) -> None:
        if not isinstance(self.ratings, MovieLensRatings | GeneratedRows | RewardTable):
            raise LobInputError(
                "ratings must come from load_movielens(path) or make_ratings(...), or be a "
                f"RewardTable, got {type(self.ratings).__name__}"
            )
        vars(self).update(
            n_states=whole("n_states", self.n_states),
            min_movie_ratings=whole("min_movie_ratings", self.min_movie_ratings),
            min_user_ratings=whole("min_user_ratings", self.min_user_ratings),
            seed=whole("seed", self.seed, least=0, most=2**32 - 1),
            alpha=fraction("alpha", self.alpha),
            sigma=positive("sigma", self.sigma),
            min_gap=not_negative("min_gap", self.min_gap),
            hold_out=fraction("hold_out", self.hold_out),
            past_rewards=whole("past_rewards", self.past_rewards),
        )
        if self.hold_out == 1:
            raise LobInputError("hold_out is 1, which leaves nobody to learn from; lower it")

    @cached_property
    def edition(self) -> str:
        """Where the ratings come from: an edition such as "ml-20m", "generated" or "table"."""
        if isinstance(self.ratings, MovieLensRatings):
            return self.ratings.edition
        return "generated" if isinstance(self.ratings, GeneratedRows) else "table"

    @cached_property
    def table(self) -> RewardTable:
        """Each user's ratings of each genre, after the filters."""
        source = self.ratings
        if isinstance(source, MovieLensRatings):
            return genre_table(source, self.min_movie_ratings, self.min_user_ratings, self.seed)
        if isinstance(source, GeneratedRows):
            return reward_table(source.table, user="userId", arm="genre", reward="rating")
        return source.filter()

    @cached_property
    def clusters(self) -> "Clusters":
        """All users in their states."""
        return cluster_users(self.table, self.n_states, self.hold_out, self.seed, self.progress)

    @cached_property
    def projected(self) -> FloatArray:
        """All users' means in Setting A."""
        raw, states = self.clusters.raw, self.clusters.states
        means = np.empty_like(raw)
        for state, order in enumerate(self.orders):
            members = states == state
            means[members] = project(raw[members], 1.0, order, min_gap=self.min_gap)
        return means

    @property
    def orders(self) -> LatentOrders:
        """The states' orders, over genres."""
        return self.clusters.orders

    @property
    def n_users(self) -> int:
        """Number of users in play."""
        return len(self._in_play)

    @property
    def n_arms(self) -> int:
        """Number of genres."""
        return self.table.n_arms

    @property
    def imputed_share(self) -> float:
        """Share of genre means that had to be imputed."""
        return self.clusters.imputed_share

    @property
    def means0(self) -> FloatArray:
        """All users' means in Setting B."""
        return self.clusters.raw

    def violations(self, alpha: float | None = None) -> float:
        """Return how many relations between neighbours a user's means violate, on average."""
        means = self.means if alpha is None else self.replace(alpha=alpha).means
        rankings = np.array([order.ranking for order in self.orders])[self.clusters.states]
        ranked = np.take_along_axis(means, rankings, axis=1)
        wrong = np.count_nonzero(ranked[:, 1:] > ranked[:, :-1], axis=1)
        return float(wrong[self._in_play].mean())

    def replace(self, **options: Any) -> "MovieLens":
        """Return the environment with other options; what these do not decide is kept."""
        other = replace(self, **options)
        for name, options_of in DECIDES.items():
            if all(getattr(self, option) == getattr(other, option) for option in options_of):
                other.__dict__[name] = getattr(self, name)
        return other

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return users of all ``n_users``, shuffled by ``seed``, from ``first`` on."""
        n, first = whole("n", n), whole("first", first, least=0)
        if first + n > self.n_users:
            raise LobInputError(
                f"users {first:,} to {first + n - 1:,} were asked for, but {self.edition} has "
                f"{self.n_users:,} in play; ask for fewer, or lower min_user_ratings"
            )
        return self._problems(self.shuffled_users(seed)[first : first + n], self.past)

    def shuffled_users(self, seed: int) -> IntArray:
        """Return the rows of `table` of all users in play, in the order given by ``seed``."""
        stream = np.random.SeedSequence(whole("seed", seed, least=0), spawn_key=(Stream.PROBLEMS,))
        return np.random.default_rng(stream).permutation(self._in_play)

    def _problems(self, users: IntArray, past: PastUsers | None) -> Problems:
        return Problems(
            means=self.means[users],
            sigma=self.sigma,
            states=self.clusters.states[users],
            orders=self.orders,
            state_means=self._state_means,
            past=past,
        )

    @cached_property
    def past(self) -> PastUsers | None:
        """The users who are not in play, where some are held out, with their rewards."""
        if self.hold_out == 0:
            return None
        learners = np.flatnonzero(~self.clusters.held_out)
        return PastUsers(self._problems(learners, None), self.past_rewards, self.seed)

    @cached_property
    def means(self) -> FloatArray:
        """All users' means at this alpha."""
        return self.alpha * self.clusters.raw + (1 - self.alpha) * self.projected

    @cached_property
    def _state_means(self) -> FloatArray:
        """Averages of learners' means; a state that lost all to a tie keeps its centre."""
        learners, centers = ~self.clusters.held_out, self.clusters.centers
        states = self.clusters.states[learners]
        sums = np.zeros_like(centers)
        np.add.at(sums, states, self.means[learners])
        sizes = np.bincount(states, minlength=len(sums))[:, None]
        return np.where(sizes > 0, sums / np.maximum(sizes, 1), centers)

    @cached_property
    def _in_play(self) -> IntArray:
        held_out = self.clusters.held_out
        return np.flatnonzero(held_out if held_out.any() else ~held_out)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the ratings: other processes need only the table."""
        kept = {name: getattr(self, name) for name in DECIDES}
        return {**self.__dict__, **kept, "ratings": self.table}

    def __repr__(self) -> str:
        hidden = {"ratings", "progress"} | (set() if self.hold_out else {"past_rewards"})
        options = [f.name for f in fields(self) if f.name not in hidden]
        given = ", ".join(f"{name}={getattr(self, name)!r}" for name in options)
        return f"MovieLens({self.edition!r}, {given})"


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
