"""The paper's real-data environment: users choose genres of movies, and rate them."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from lobandits._checks import FloatArray, IntArray, fraction, not_negative, positive, whole
from lobandits.errors import LobInputError
from lobandits.learning.logs import reward_table
from lobandits.learning.movielens import MovieLensRatings, genre_table
from lobandits.learning.ratings import GeneratedRatings
from lobandits.learning.table import RewardTable
from lobandits.orders import LatentOrders
from lobandits.simulation.clusters import Clusters, cluster
from lobandits.simulation.problems import Problems
from lobandits.simulation.streams import Stream

FILTERS = ("ratings", "min_movie_ratings", "min_user_ratings", "seed")
CLUSTERING = (*FILTERS, "n_states", "hold_out")
DECIDES = {
    "edition": ("ratings",),
    "table": FILTERS,
    "clusters": CLUSTERING,
    "projected": (*CLUSTERING, "min_gap"),
}
"""What is computed once, and the options that decide it."""


@dataclass(frozen=True, eq=False, repr=False)
class MovieLens:
    r"""Users of MovieLens: an arm is a genre, its mean the user's average rating of its movies.

    .. math:: \mu^i = \alpha \mu^{0,i} + (1 - \alpha) \, \mathrm{proj}_{s_i}(\mu^{0,i})

    where :math:`\mu^{0,i}` are user i's genre means, :math:`s_i` is the user's state among
    ``n_states`` found by :class:`lobandits.KendallKMeans`, and proj is the projection on the
    order of that state. Alpha 0 is the paper's Setting A, where the orders hold; alpha 1 is
    Setting B, the raw means. Rewards are Gaussian.

    Ratings are read, summed up and clustered on first use, and kept.

    Parameters
    ----------
    ratings
        What :func:`lobandits.load_movielens` or :func:`lobandits.make_ratings` returned, or the
        :class:`lobandits.RewardTable` of any users and arms.
    n_states
        Number of states, m; fewer are found where orders become equal.
    alpha
        Share of the raw means in the users' means, from 0 (Setting A) to 1 (Setting B).
    sigma
        Standard deviation of the rewards' noise, which policies are told.
    min_movie_ratings, min_user_ratings
        Leave out movies with fewer ratings, then users with fewer ratings of the movies that
        remain. Only what :func:`lobandits.load_movielens` returned is filtered.
    min_gap
        Least gap between neighbours in the projected means.
    seed
        Names the one genre of movies that have several, the clustering and the users held out.
    hold_out
        Share of users that have no part in learning; then only these are in play. 0, as in the
        paper: all users have a part and are in play.
    progress
        Show a progress bar of the clustering, if standard error is a terminal.

    Notes
    -----
    A genre that a user never rated has the user's mean plus the genre's offset;
    ``imputed_share`` says how often. What latent-bandit policies believe of a state is the
    average of its users' means, at the same alpha, held-out users aside. A pickled copy has
    the table of genre means in place of the ratings.

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_ratings(n_users=300, n_arms=6, n_states=4)
    >>> env = lob.MovieLens(ratings, n_states=4)
    >>> env.sample(2, seed=0)
    Problems(n_users=2, n_arms=6, n_states=4, sigma=2, rewards='gaussian')
    >>> env.violations()
    0.0
    >>> env.replace(alpha=1.0).violations() > 0
    True
    """

    ratings: MovieLensRatings | GeneratedRatings | RewardTable
    n_states: int = 60
    alpha: float = 0.0
    sigma: float = 2.0
    min_movie_ratings: int = 200
    min_user_ratings: int = 200
    min_gap: float = 0.01
    seed: int = 0
    hold_out: float = 0.0
    progress: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.ratings, MovieLensRatings | GeneratedRatings | RewardTable):
            raise LobInputError(
                "ratings must come from load_movielens(path) or make_ratings(...), or be a "
                f"RewardTable, got {type(self.ratings).__name__}"
            )
        for name in ("n_states", "min_movie_ratings", "min_user_ratings"):
            self._set(name, whole(name, getattr(self, name)))
        self._set("seed", whole("seed", self.seed, least=0, most=2**32 - 1))
        self._set("alpha", fraction("alpha", self.alpha))
        self._set("sigma", positive("sigma", self.sigma))
        self._set("min_gap", not_negative("min_gap", self.min_gap))
        self._set("hold_out", fraction("hold_out", self.hold_out))
        if self.hold_out == 1:
            raise LobInputError("hold_out is 1, which leaves nobody to learn from; lower it")

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def edition(self) -> str:
        """Where the ratings come from: an edition such as "ml-20m", "generated" or "table"."""
        if isinstance(self.ratings, MovieLensRatings):
            return self.ratings.edition
        return "generated" if isinstance(self.ratings, GeneratedRatings) else "table"

    @cached_property
    def table(self) -> RewardTable:
        """Each user's ratings of each genre, after the filters."""
        source = self.ratings
        if isinstance(source, MovieLensRatings):
            return genre_table(source, self.min_movie_ratings, self.min_user_ratings, self.seed)
        if isinstance(source, GeneratedRatings):
            return reward_table(source.table, user="userId", arm="genre", reward="rating")
        return source.filter()

    @cached_property
    def clusters(self) -> Clusters:
        """All users in their states."""
        return cluster(self.table, self.n_states, self.hold_out, self.seed, self.progress)

    @cached_property
    def projected(self) -> FloatArray:
        """All users' means in Setting A."""
        return self.clusters.projected(self.min_gap)

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
        """Share of the genre means that had to be imputed, of all users."""
        return self.clusters.imputed_share

    @property
    def means0(self) -> FloatArray:
        """All users' raw genre means, imputed where there are none: the means in Setting B."""
        return self.clusters.raw

    def violations(self, alpha: float | None = None) -> float:
        """Return how many of the n_arms - 1 relations between neighbours the means violate.

        An average over the users in play, each with the order of their state; at this alpha, or
        another one.
        """
        means = self._means if alpha is None else self.replace(alpha=alpha)._means
        return float(self.clusters.violated(means)[self._in_play].mean())

    def replace(self, **options: Any) -> "MovieLens":
        """Return the environment with other options; what they leave as it is, is kept.

        With another ``alpha``, ``sigma`` or ``min_gap`` nothing is clustered again, and with
        another ``n_states`` the ratings are not summed up again.
        """
        other = replace(self, **options)
        for name, options_of in DECIDES.items():
            if all(getattr(self, option) == getattr(other, option) for option in options_of):
                other.__dict__[name] = getattr(self, name)
        return other

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Return users ``first`` to ``first + n - 1`` in the order to which ``seed`` shuffles.

        Nobody comes twice, so there are at most ``n_users``.
        """
        n, first = whole("n", n), whole("first", first, least=0)
        if first + n > self.n_users:
            raise LobInputError(
                f"users {first:,} to {first + n - 1:,} were asked for, but {self.edition} has "
                f"{self.n_users:,} in play; ask for fewer, or lower min_user_ratings"
            )
        stream = np.random.SeedSequence(whole("seed", seed, least=0), spawn_key=(Stream.PROBLEMS,))
        shuffled = np.random.default_rng(stream).permutation(self._in_play)
        users = shuffled[first : first + n]
        return Problems(
            means=self._means[users],
            sigma=self.sigma,
            states=self.clusters.states[users],
            orders=self.orders,
            state_means=self._state_means,
        )

    @cached_property
    def _means(self) -> FloatArray:
        return self.alpha * self.clusters.raw + (1 - self.alpha) * self.projected

    @cached_property
    def _state_means(self) -> FloatArray:
        return self.clusters.state_means(self._means)

    @cached_property
    def _in_play(self) -> IntArray:
        held_out = self.clusters.held_out
        return np.flatnonzero(held_out) if held_out.any() else np.arange(len(held_out))

    def __getstate__(self) -> dict[str, Any]:
        """Return what other processes need: the users in their states, and no ratings."""
        kept = {name: getattr(self, name) for name in DECIDES}
        return {**self.__dict__, **kept, "ratings": self.table}

    def __repr__(self) -> str:
        options = [f for f in fields(self) if f.name not in ("ratings", "progress")]
        given = ", ".join(f"{f.name}={getattr(self, f.name)!r}" for f in options)
        return f"MovieLens({self.edition!r}, {given})"
