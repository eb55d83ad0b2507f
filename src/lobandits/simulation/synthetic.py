"""The paper's synthetic environment, and users who put other numbers on the same order."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lobandits._checks import FloatArray, IntArray, fraction, interval, one_of, positive, whole
from lobandits.errors import LobInputError
from lobandits.orders import UserOrders
from lobandits.orders.tables import keep_links
from lobandits.simulation.permutations import check_enough, distinct_permutations
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import KINDS, Bounds, checked_bounds, expected_rewards
from lobandits.simulation.streams import BLOCK, Stream, block_generator, blocks_of


class _Draw(NamedTuple):
    """What is random about some users; ``links`` decides which relations are revealed."""

    ranking: IntArray
    state: IntArray
    scale: FloatArray
    shift: FloatArray
    links: FloatArray


@dataclass(frozen=True)
class Synthetic:
    r"""Each user has m distinct random total orders, and lives in one of these states.

    In state s with ranking :math:`p_{s,1}, \dots, p_{s,k}` the mean of the arm at rank j is

    .. math:: \mu_{p_{s,j}} = b \, \gamma (k - j) + c, \qquad j = 1, \dots, k,

    with b = 1 and c = 0 as in the paper, or a scale b and a shift c of the user's own.

    Parameters
    ----------
    n_arms, n_states
        k and m.
    sigma
        Standard deviation of the rewards' noise, which policies are told. With Bernoulli rewards
        it is only told, and at most 1/2, which suits any reward in [0, 1].
    gamma
        Gap between the means of neighbours in the order.
    q
        Share of each order's k - 1 consecutive relations that policies see: a random
        ceil(q (k - 1)) of them.
    scale
        (low, high): draw each user's b log-uniformly between them. None: b = 1.
    shift
        (low, high): draw each user's c uniformly between them. None: c = 0.
    rewards
        "gaussian"; "clipped", the Gaussian reward cut off at ``bounds``, like a rating; or
        "bernoulli", one with probability (mean - lowest) / (highest - lowest).
    bounds
        (lowest, highest) of clipped rewards, by default the range of possible means; of the
        means that become probabilities 0 and 1, by default that range, gamma / 2 wider at
        either end.

    Notes
    -----
    ``state_means``, what latent-bandit policies believe, are the expected rewards of a user
    with scale 1 and shift 0: with a random scale or shift they are wrong, while the orders
    stay right. Regret uses the true expected rewards, for clipped rewards those after clipping.
    Users of one seed keep their orders, states, scales and shifts when only ``q``, ``sigma``,
    ``gamma`` or ``rewards`` change.

    Examples
    --------
    >>> problems = Synthetic(n_arms=4, n_states=3).sample(2, seed=0)
    >>> problems
    Problems(n_users=2, n_arms=4, n_states=3, sigma=1, rewards='gaussian')
    >>> problems.means
    array([[0., 2., 3., 1.],
           [0., 2., 3., 1.]])
    """

    n_arms: int = 15
    n_states: int = 15
    sigma: float = 1.0
    gamma: float = 1.0
    q: float = 1.0
    scale: tuple[float, float] | None = None
    shift: tuple[float, float] | None = None
    rewards: str = "gaussian"
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        one_of("rewards", self.rewards, KINDS)
        self._set("sigma", positive("sigma", self.sigma))
        self._set("n_arms", whole("n_arms", self.n_arms))
        self._set("n_states", whole("n_states", self.n_states))
        self._set("gamma", positive("gamma", self.gamma))
        self._set("q", fraction("q", self.q))
        for name in ("scale", "shift"):
            if getattr(self, name) is not None:
                self._set(name, interval(name, getattr(self, name)))
        check_enough(self.n_states, self.n_arms)
        if self.scale is not None and self.scale[0] <= 0:
            raise LobInputError(f"scale must be positive, got {self.scale!r}")
        least, most = self._reach()
        if not math.isfinite(most - least):
            raise LobInputError("gamma, scale and shift make means too large for numbers")
        self._check_bounds()

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_bounds(self) -> None:
        if self.bounds is None:
            return
        if self.rewards == "gaussian":
            raise LobInputError("bounds are for clipped and Bernoulli rewards; Gaussian have none")
        self._set("bounds", checked_bounds(self.bounds))
        (least, most), (lowest, highest) = self._reach(), self._bounds()
        if self.rewards == "bernoulli" and not lowest <= least <= most <= highest:
            raise LobInputError(
                f"bounds of Bernoulli rewards must hold every mean, from {least:g} to {most:g}, "
                f"got {self.bounds!r}"
            )

    def _reach(self) -> Bounds:
        """Return the lowest and highest mean that a user, or a state, can have."""
        top = self.gamma * (self.n_arms - 1)
        largest = max(1.0, self.scale[1]) if self.scale else 1.0
        low, high = self.shift or (0.0, 0.0)
        return min(low, 0.0), largest * top + max(high, 0.0)

    def _bounds(self) -> Bounds:
        least, most = self._reach()
        if self.bounds is not None:
            return self.bounds
        wider = self.gamma / 2 if self.rewards == "bernoulli" or least == most else 0.0
        return least - wider, most + wider

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Draw users ``first`` to ``first + n - 1`` of the sequence that ``seed`` names.

        Parameters
        ----------
        n
            How many users.
        seed
            Names the endless sequence of users; a longer sample begins with a shorter one.
        first
            The first user.
        """
        n, first = whole("n", n), whole("first", first, least=0)
        blocks = blocks_of(first, n)
        seed = whole("seed", seed, least=0)
        draws = [self._draw(block_generator(seed, Stream.PROBLEMS, block)) for block in blocks]
        start = first - blocks.start * BLOCK
        parts = (np.concatenate(part)[start : start + n] for part in zip(*draws, strict=True))
        return self._problems(_Draw(*parts))

    def _draw(self, rng: np.random.Generator) -> _Draw:
        scale = self.scale or (1.0, 1.0)
        return _Draw(
            ranking=distinct_permutations(rng, BLOCK, self.n_states, self.n_arms),
            state=rng.integers(self.n_states, size=BLOCK),
            scale=np.exp(rng.uniform(np.log(scale[0]), np.log(scale[1]), size=BLOCK)),
            shift=rng.uniform(*(self.shift or (0.0, 0.0)), size=BLOCK),
            links=rng.random((BLOCK, self.n_states, self.n_arms - 1 if self.q < 1 else 0)),
        )

    def _problems(self, draw: _Draw) -> Problems:
        ranked = self.gamma * np.arange(self.n_arms - 1, -1, -1.0)
        believed = np.empty(draw.ranking.shape)
        np.put_along_axis(believed, draw.ranking, ranked[None, None], axis=-1)
        own = np.take_along_axis(believed, draw.state[:, None, None], axis=1)[:, 0]
        location = draw.scale[:, None] * own + draw.shift[:, None]
        linked = None if self.q == 1 else keep_links(draw.links, self.q)
        clipped = self.rewards == "clipped"
        return Problems(
            means=self._expected(location),
            sigma=min(self.sigma, 0.5) if self.rewards == "bernoulli" else self.sigma,
            states=draw.state,
            orders=UserOrders(draw.ranking, linked),
            state_means=self._expected(believed),
            rewards=self.rewards,
            location=location if clipped else None,
            bounds=self._bounds() if clipped else None,
        )

    def _expected(self, location: FloatArray) -> FloatArray:
        lowest, highest = self._bounds()
        if self.rewards == "bernoulli":
            return (location - lowest) / (highest - lowest)
        return expected_rewards(self.rewards, location, self.sigma, (lowest, highest))
