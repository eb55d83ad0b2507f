"""Generated rating logs, any size, no download: with planted orders, or without any states."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from math import factorial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    fraction,
    interval,
    not_negative,
    read_only,
    whole,
)
from lobandits.basics.files import write_file
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders

if TYPE_CHECKING:
    import pyarrow as pa

GENRES = (  # of MovieLens' later editions, sorted
    "Action", "Adventure", "Animation", "Children", "Comedy", "Crime", "Documentary", "Drama",
    "Fantasy", "Film-Noir", "Horror", "IMAX", "Musical", "Mystery", "Romance", "Sci-Fi",
    "Thriller", "War", "Western",
)  # fmt: skip
BLOCK_ROWS = 2**18
LEAST_TRIED = 2


def make_ratings(
    n_users: int = 1000,
    n_arms: int = 19,
    n_states: int = 20,
    *,
    ratings_per_user: int = 150,
    sigma: float = 1.0,
    missing: float = 0.1,
    scale: tuple[float, float] = (1.0, 2.5),
    shift: tuple[float, float] = (1.0, 2.5),
    half_stars: bool = False,
    seed: int = 0,
) -> "GeneratedRatings":
    r"""Return rating logs whose users live by known orders, each on a scale of their own.

    Each state has a random ranking of the arms, all rankings different. User i lives in a random
    state, and rates the arm at rank j of its ranking

    .. math:: r = c_i + b_i \frac{k - j}{k - 1} + \sigma \epsilon,
              \qquad \epsilon \sim \mathcal{N}(0, 1),

    so two users of one state agree on the order, and disagree on every number.

    Parameters
    ----------
    n_users, n_arms, n_states
        n, k and m. Up to 19 arms have MovieLens' genres as names.
    ratings_per_user
        Rows of each user, each of a random arm that the user knows.
    sigma
        Standard deviation of the noise.
    missing
        Probability that a user does not know an arm; everybody knows two.
    scale, shift
        (low, high) of the uniform b and c.
    half_stars
        Round ratings to 0.5, 1.0, ..., 5.0, and cut them off there, which keeps the means' order.
    seed
        Names the endless sequence of users: same seed, same rows; more users only add rows.

    Examples
    --------
    >>> ratings = make_ratings(n_users=3, n_arms=3, n_states=2, ratings_per_user=50)
    >>> print(ratings.orders)
    state 0: Animation > Adventure > Action
    state 1: Adventure > Animation > Action
    >>> ratings.states
    array([0, 0, 1])
    """
    n_arms, n_states = whole("n_arms", n_arms, least=LEAST_TRIED), whole("n_states", n_states)
    if n_arms <= len(GENRES) and n_states > factorial(n_arms):
        raise LobInputError(
            f"{n_arms} arms have only {factorial(n_arms)} orders, but n_states is {n_states}"
        )
    low, _ = scale = interval("scale", scale)
    if low <= 0:
        raise LobInputError(f"scale must be positive, got {scale!r}")
    seed = whole("seed", seed, least=0)
    return GeneratedRatings(
        n_users=whole("n_users", n_users),
        arms=_arm_names(n_arms),
        orders=_planted_orders(n_states, n_arms, seed),
        ratings_per_user=whole("ratings_per_user", ratings_per_user),
        sigma=not_negative("sigma", sigma),
        missing=fraction("missing", missing),
        scale=scale,
        shift=interval("shift", shift),
        half_stars=bool(half_stars),
        seed=seed,
    )


def make_gaussian_ratings(
    n_users: int = 1000,
    n_arms: int = 19,
    *,
    ratings_per_user: int = 150,
    sigma: float = 1.0,
    missing: float = 0.1,
    level: float = 0.3,
    shift: float = 0.5,
    spread: float = 0.4,
    n_factors: int = 3,
    half_stars: bool = False,
    seed: int = 0,
) -> "GaussianRatings":
    r"""Return rating logs of users without states: their means are one Gaussian.

    User i rates arm a

    .. math:: r = 3.5 + l z_a + c_i + b \, \frac{f_i \cdot F_a + e_{ia}}{\sqrt 2} + \sigma \epsilon,

    with arms' levels :math:`l z_a`, users' shifts :math:`c_i`, a few factors :math:`f_i` with
    loadings :math:`F_a` of length 1, and :math:`e_{ia}` of their own, all normal. There is nothing
    that orders could tell beyond what the mean and the covariance say.

    Parameters
    ----------
    n_users, n_arms, ratings_per_user, sigma, missing, half_stars, seed
        As in `make_ratings`.
    level, shift, spread
        Standard deviations of l z, of c, and of what else tells users apart.
    n_factors
        Length of f.

    Examples
    --------
    >>> make_gaussian_ratings(n_users=3, n_arms=3, ratings_per_user=50).means.shape
    (3, 3)
    """
    n_arms, seed = whole("n_arms", n_arms, least=LEAST_TRIED), whole("seed", seed, least=0)
    rng = _generator(seed, 0, 0)
    loadings = rng.standard_normal((n_arms, whole("n_factors", n_factors)))
    return GaussianRatings(
        n_users=whole("n_users", n_users),
        arms=_arm_names(n_arms),
        ratings_per_user=whole("ratings_per_user", ratings_per_user),
        sigma=not_negative("sigma", sigma),
        missing=fraction("missing", missing),
        half_stars=bool(half_stars),
        seed=seed,
        levels=read_only(3.5 + not_negative("level", level) * rng.standard_normal(n_arms)),
        loadings=read_only(loadings / np.linalg.norm(loadings, axis=1, keepdims=True)),
        shift=not_negative("shift", shift),
        spread=not_negative("spread", spread),
    )


def _planted_orders(n_states: int, n_arms: int, seed: int) -> LatentOrders:
    """Draw different rankings."""
    rng = _generator(seed, 0, 0)
    drawn: dict[tuple[int, ...], None] = {}
    while len(drawn) < n_states:
        drawn.setdefault(tuple(rng.permutation(n_arms).tolist()))
    return LatentOrders.from_rankings(list(drawn), _arm_names(n_arms))


def _arm_names(n_arms: int) -> tuple[str, ...]:
    digits = len(str(n_arms))
    numbered = tuple(f"Genre {a + 1:0{digits}}" for a in range(n_arms))
    return numbered if n_arms > len(GENRES) else tuple(GENRES[:n_arms])


def _generator(seed: int, stream: int, block: int) -> np.random.Generator:
    sequence = np.random.SeedSequence(seed, spawn_key=(stream, block))
    return np.random.Generator(np.random.SFC64(sequence))


@dataclass(frozen=True)
class GeneratedRows:
    """Rating logs whose rows are made when they are asked for, block after block."""

    n_users: int
    arms: tuple[str, ...]
    ratings_per_user: int
    sigma: float
    missing: float
    half_stars: bool
    seed: int

    @property
    def n_rows(self) -> int:
        """The number of ratings."""
        return self.n_users * self.ratings_per_user

    @cached_property
    def means(self) -> FloatArray:
        """Each user's own means, (n, k), before any rounding to half stars."""
        return read_only(np.concatenate([means for _, means, _ in self._blocks()]))

    @property
    def table(self) -> "pa.Table":
        """All rows as an Arrow table with the columns userId, genre and rating."""
        import pyarrow as pa

        table = pa.Table.from_batches(self.batches())
        return table.set_column(1, "genre", table.column("genre").cast(pa.string()))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write all rows to a .parquet or .csv file, block after block, in little memory."""
        from pyarrow.csv import CSVWriter
        from pyarrow.parquet import ParquetWriter

        suffix = Path(path).suffix.lower()
        if suffix not in (".parquet", ".pq", ".csv"):
            raise LobInputError(
                f"ratings are written to a .parquet or .csv file, got {str(path)!r}"
            )
        text = suffix == ".csv"
        batches = map(_plain, self.batches()) if text else self.batches()
        first = next(batches)

        def write(file: IO[bytes]) -> None:
            with (
                CSVWriter(file, first.schema)
                if text
                else ParquetWriter(file, first.schema, store_schema=False)
            ) as writer:
                for batch in chain([first], batches):
                    writer.write_batch(batch)

        return write_file(path, write)

    def batches(self) -> Iterator["pa.RecordBatch"]:
        """Yield the rows, some 260,000 at a time; genres are dictionary-encoded."""
        import pyarrow as pa

        names = pa.array(self.arms)
        shape = self._block_size, self.ratings_per_user
        first = 1
        for number, (states, means, known) in enumerate(self._blocks()):
            rng = _generator(self.seed, 2, number)
            n, luck, noise = len(states), rng.random(shape), rng.standard_normal(shape)
            known_first = np.argsort(~known, axis=1, kind="stable")
            pick = (luck[:n] * known.sum(axis=1, keepdims=True)).astype(np.int64)
            arms = np.take_along_axis(known_first, pick, axis=1)
            ratings = np.take_along_axis(means, arms, axis=1) + self.sigma * noise[:n]
            if self.half_stars:
                ratings = np.clip(np.round(2 * ratings) / 2, 0.5, 5.0)
            users = np.arange(first, first + n)
            first += n
            columns = {
                "userId": pa.array(np.repeat(users, self.ratings_per_user)),
                "genre": pa.DictionaryArray.from_arrays(arms.astype(np.int16).ravel(), names),
                "rating": pa.array(ratings.ravel()),
            }
            yield pa.RecordBatch.from_pydict(columns)

    @property
    def _block_size(self) -> int:
        return max(BLOCK_ROWS // self.ratings_per_user, 1)

    def _blocks(self) -> Iterator[tuple[IntArray, FloatArray, BoolArray]]:
        """Draw users' states, means and known arms, the same for any number of users."""
        size = self._block_size
        for number, first in enumerate(range(0, self.n_users, size)):
            rng = _generator(self.seed, 1, number)
            states, means = self._draw(rng, size)
            luck = rng.random(means.shape)
            known = luck >= np.minimum(self.missing, np.sort(luck)[:, -LEAST_TRIED, None])
            kept = self.n_users - first
            yield states[:kept], means[:kept], known[:kept]

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[IntArray, FloatArray]:
        """Draw users: their states, -1 where there are none, and their means."""
        raise NotImplementedError


@dataclass(frozen=True)
class GeneratedRatings(GeneratedRows):
    """Rating logs that `make_ratings` describes: every user lives by a planted order.

    Attributes
    ----------
    orders
        The planted orders.

    Examples
    --------
    >>> ratings = make_ratings(n_users=2, n_arms=3, n_states=1, ratings_per_user=4)
    >>> ratings.n_rows, ratings.table.column_names
    (8, ['userId', 'genre', 'rating'])
    """

    orders: LatentOrders
    scale: tuple[float, float]
    shift: tuple[float, float]

    @cached_property
    def states(self) -> IntArray:
        """Each user's state, (n,)."""
        return read_only(np.concatenate([states for states, _, _ in self._blocks()]))

    @cached_property
    def _levels(self) -> FloatArray:
        """Of each state's arms, from 1 for the best to 0 for the worst, (m, k)."""
        ranked = np.linspace(1.0, 0.0, self.orders.n_arms)
        level = np.empty((self.orders.n_states, self.orders.n_arms))
        np.put_along_axis(level, self.orders.tables.sequence[0], ranked[None], axis=1)
        return level

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[IntArray, FloatArray]:
        states = rng.integers(self.orders.n_states, size=size)
        scale, shift = rng.uniform(*self.scale, size), rng.uniform(*self.shift, size)
        return states, shift[:, None] + scale[:, None] * self._levels[states]


@dataclass(frozen=True, eq=False)
class GaussianRatings(GeneratedRows):
    """Rating logs that `make_gaussian_ratings` describes: no user has a state.

    Attributes
    ----------
    levels, loadings
        Of the arms: their mean, (k,), and their factors, (k, n_factors).

    Examples
    --------
    >>> import lobandits as lob
    >>> ratings = lob.make_gaussian_ratings(n_users=50, n_arms=4)
    >>> isinstance(ratings, lob.GaussianRatings), ratings.levels.shape
    (True, (4,))
    """

    levels: FloatArray
    loadings: FloatArray
    shift: float
    spread: float

    def _draw(self, rng: np.random.Generator, size: int) -> tuple[IntArray, FloatArray]:
        n_arms, n_factors = self.loadings.shape
        shared = rng.standard_normal((size, n_factors)) @ self.loadings.T
        own = rng.standard_normal((size, n_arms))
        shifts = self.shift * rng.standard_normal((size, 1))
        means = self.levels + shifts + self.spread * (shared + own) / np.sqrt(2)
        return np.full(size, -1), means


def _plain(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """Return rows with genres as text."""
    import pyarrow as pa

    columns = [
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
