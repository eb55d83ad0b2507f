"""The paper's synthetic environment, and users who put other numbers on the same order."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lobandits.basics.checks import (
    BoolArray,
    FloatArray,
    IntArray,
    fraction,
    interval,
    one_of,
    positive,
    whole,
)
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError
from lobandits.orders import LatentOrders, UserOrders
from lobandits.orders.chains import keep_links
from lobandits.orders.contexts import name_in_context
from lobandits.simulation.arrivals import ARRIVALS
from lobandits.simulation.past_users import PAST_REWARDS, PastUsers
from lobandits.simulation.problems import Problems
from lobandits.simulation.rewards import KINDS, Bounds, checked_bounds, expected_rewards
from lobandits.simulation.streams import BLOCK, Stream, block_generator, blocks_of

CHANGES = ("state", "scale", "drift")
CROWDED = 4  # with fewer permutations per state, drawing again what came twice is slow


@dataclass(frozen=True)
class Synthetic(Frozen):
    r"""Each user has m distinct random total orders, and lives in one of these states.

    There the mean of the arm at rank j = 1, ..., k is

    .. math:: \mu_j = b \, \gamma (k - j) + c,

    with b = 1 and c = 0 as in the paper, or a scale b and a shift c of the user's own.

    Parameters
    ----------
    n_arms, n_states
        k and m.
    sigma
        Standard deviation of the noise, told to policies; with Bernoulli rewards only told, and
        at most 1/2.
    gamma
        Gap between neighbours in the order.
    q
        Policies see a random ceil(q (k - 1)) of each order's k - 1 relations of neighbours.
    scale, shift
        (low, high): draw each user's b log-uniformly, c uniformly between them.
    rewards
        "gaussian"; "clipped" at ``bounds``; or "bernoulli", one with probability
        (mean - lowest) / (highest - lowest).
    bounds
        (lowest, highest), by default the range of possible means; for Bernoulli rewards it is
        gamma / 2 wider at either end.
    n_contexts, arrivals
        With several contexts, every state has an order of its own in each, over arms of their own:
        k is the number of arms in a context. Contexts come at "random" or "in turn".
    change_every, change
        After so many rounds, again and again, every user changes: "state", lives in a state drawn
        anew; "scale", has another b and c; "drift", each mean moves by a normal step of ``drift``
        gamma, so that orders do not hold for ever. By default nobody changes.
    drift
        Standard deviation of a step, in gaps between neighbours.
    past_users, past_rewards
        With past users, all users share one set of m orders. So many came before, and left so many
        rewards of random arms each: from this log a prior is learned, for policies that need one.
    past_seed
        Names the shared orders, the past users and their rewards.

    Notes
    -----
    Latent-bandit policies believe in the means of scale 1 and shift 0. Users of one seed keep
    their orders, states, scales and shifts under other ``q``, ``sigma``, ``gamma`` and ``rewards``;
    with past users all but their orders.

    Examples
    --------
    >>> Synthetic(n_arms=4, n_states=3).sample(2, seed=0).means
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
    n_contexts: int = field(default=1, repr=False)
    arrivals: str = field(default="random", repr=False)
    past_users: int = field(default=0, repr=False)
    past_rewards: int = field(default=PAST_REWARDS, repr=False)
    past_seed: int = field(default=0, repr=False)
    change_every: int | None = field(default=None, repr=False, kw_only=True)
    change: str = field(default="state", repr=False, kw_only=True)
    drift: float = field(default=0.1, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        one_of("rewards", self.rewards, KINDS)
        one_of("arrivals", self.arrivals, ARRIVALS)
        one_of("change", self.change, CHANGES)
        self._set(
            sigma=positive("sigma", self.sigma),
            n_arms=whole("n_arms", self.n_arms),
            n_states=whole("n_states", self.n_states),
            gamma=positive("gamma", self.gamma),
            q=fraction("q", self.q),
            scale=None if self.scale is None else interval("scale", self.scale),
            shift=None if self.shift is None else interval("shift", self.shift),
            n_contexts=whole("n_contexts", self.n_contexts),
            past_users=whole("past_users", self.past_users, least=0),
            past_rewards=whole("past_rewards", self.past_rewards),
            past_seed=whole("past_seed", self.past_seed, least=0),
            change_every=self.change_every and whole("change_every", self.change_every),
            drift=positive("drift", self.drift),
        )
        self._check_change()
        check_enough(self.n_states, self.n_arms)
        if self.scale is not None and self.scale[0] <= 0:
            raise LobInputError(f"scale must be positive, got {self.scale!r}")
        least, most = self._reach()
        if not math.isfinite(most - least):
            raise LobInputError("gamma, scale and shift make means too large for numbers")
        if self.bounds is not None:
            self._check_bounds(self.bounds, least, most)

    def _check_change(self) -> None:
        if self.change_every is None:
            return
        if self.change == "scale" and self.scale is None and self.shift is None:
            raise LobInputError("change is 'scale', but all users have the same; give scale, shift")
        if self.change == "drift" and self.rewards == "bernoulli":
            raise LobInputError("means that drift leave [0, 1]; use Gaussian or clipped rewards")

    def _check_bounds(self, bounds: Bounds, least: float, most: float) -> None:
        if self.rewards == "gaussian":
            raise LobInputError("bounds are for clipped and Bernoulli rewards; Gaussian have none")
        lowest, highest = checked_bounds(bounds)
        self._set(bounds=(lowest, highest))
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
        if self.bounds is not None:
            return self.bounds
        least, most = self._reach()
        wider = self.gamma / 2 if self.rewards == "bernoulli" or least == most else 0.0
        return least - wider, most + wider

    def sample(self, n: int, seed: int, first: int = 0) -> Problems:
        """Draw the users from ``first`` on; see `Environment`."""
        n, first = whole("n", n), whole("first", first, least=0)
        seed = whole("seed", seed, least=0)
        problems = self._problems(self.past, *self._users(Stream.PROBLEMS, n, seed, first))
        if self.change_every is None:
            return problems
        return replace(problems, changes=SyntheticChanges(self, n, seed, first))

    def changed(self, n: int, seed: int, first: int, number: int) -> Problems:
        """Return the users from ``first`` on after so many changes."""
        rankings, states, scale, shift, links = self._users(Stream.PROBLEMS, n, seed, first)
        steps = np.zeros((n, self.n_arms * self.n_contexts))
        blocks = blocks_of(first, n)
        rngs = [block_generator(seed, Stream.CHANGES, block) for block in blocks]
        start = first - blocks.start * BLOCK
        for _ in range(number):
            drawn = zip(*(self._draw_change(rng) for rng in rngs), strict=True)
            state, *own, step = (np.concatenate(part)[start : start + n] for part in drawn)
            if self.change == "state":
                states = state
            elif self.change == "scale":
                scale, shift = own
            else:
                steps += self.drift * self.gamma * step
        return self._problems(self.past, rankings, states, scale, shift, links, steps)

    def _draw_change(self, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
        """Return what one change may bring to a block's users: state, scale, shift and steps."""
        scale = self.scale or (1.0, 1.0)
        return (
            rng.integers(self.n_states, size=BLOCK),
            np.exp(rng.uniform(np.log(scale[0]), np.log(scale[1]), size=BLOCK)),
            rng.uniform(*(self.shift or (0.0, 0.0)), size=BLOCK),
            rng.standard_normal((BLOCK, self.n_arms * self.n_contexts)),
        )

    @cached_property
    def past(self) -> PastUsers | None:
        """The users who came before, with their rewards."""
        if not self.past_users:
            return None
        users = self._users(Stream.PAST_USERS, self.past_users, self.past_seed)
        return PastUsers(self._problems(None, *users), self.past_rewards, self.past_seed)

    def _users(self, stream: Stream, n: int, seed: int, first: int = 0) -> Iterator[NDArray[Any]]:
        """Return what is random about some users: the arguments of `_problems`."""
        blocks = blocks_of(first, n)
        draws = [self._draw(block_generator(seed, stream, block)) for block in blocks]
        start = first - blocks.start * BLOCK
        return (np.concatenate(part)[start : start + n] for part in zip(*draws, strict=True))

    def _draw(self, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
        """Return what is random about a block's users."""
        scale, k = self.scale or (1.0, 1.0), self.n_arms
        rankings = [
            distinct_permutations(rng, BLOCK, self.n_states, k) + k * context
            for context in range(self.n_contexts)
        ]
        relations = self.n_contexts * (k - 1) if self.q < 1 else 0
        return (
            np.concatenate(rankings, axis=2),
            rng.integers(self.n_states, size=BLOCK),
            np.exp(rng.uniform(np.log(scale[0]), np.log(scale[1]), size=BLOCK)),
            rng.uniform(*(self.shift or (0.0, 0.0)), size=BLOCK),
            rng.random((BLOCK, self.n_states, relations)),
        )

    def _problems(
        self,
        past: PastUsers | None,
        rankings: IntArray,
        states: IntArray,
        scale: FloatArray,
        shift: FloatArray,
        links: FloatArray,
        steps: FloatArray | float = 0.0,
    ) -> Problems:
        orders: LatentOrders | UserOrders
        if self.past_users:
            orders, believed = self._shared
            own = believed[states]
        else:
            orders, believed = self._orders(rankings, links)
            own = np.take_along_axis(believed, states[:, None, None], axis=1)[:, 0]
        location = scale[:, None] * own + shift[:, None] + steps
        clipped = self.rewards == "clipped"
        return Problems(
            means=self._expected(location),
            sigma=min(self.sigma, 0.5) if self.rewards == "bernoulli" else self.sigma,
            states=states,
            orders=orders,
            state_means=self._expected(believed),
            rewards=self.rewards,
            location=location if clipped else None,
            bounds=self._bounds() if clipped else None,
            past=past,
            arrivals=self.arrivals if self.n_contexts > 1 else None,
        )

    @cached_property
    def _shared(self) -> tuple[LatentOrders, FloatArray]:
        """The orders that all users share where there were past users, and their means."""
        rankings, *_, links = self._draw(block_generator(self.past_seed, Stream.STATES, 0))
        orders, believed = self._orders(rankings[:1], links[:1])
        return orders[0], believed[0]

    def _orders(self, rankings: IntArray, links: FloatArray) -> tuple[UserOrders, FloatArray]:
        """Return what policies see of users' orders, and the means that belong to them."""
        ranked = np.tile(self.gamma * np.arange(self.n_arms - 1, -1, -1.0), self.n_contexts)
        believed = np.empty(rankings.shape)
        np.put_along_axis(believed, rankings, ranked[None, None], axis=-1)
        return UserOrders(rankings, self._linked(rankings, links), self._names), believed

    def _linked(self, rankings: IntArray, links: FloatArray) -> BoolArray | None:
        """Return which arms of users' orders stand directly below the one before; None: all."""
        if self.q == 1 and self.n_contexts == 1:
            return None
        parts = (*rankings.shape[:2], self.n_contexts)
        if self.q == 1:
            linked = np.ones((*parts, self.n_arms), np.bool_)
            linked[..., 0] = False
        else:
            linked = keep_links(links.reshape(*parts, self.n_arms - 1), self.q)
        return linked.reshape(rankings.shape)

    @property
    def _names(self) -> list[str] | None:
        """The arms' names: with contexts, each in its own."""
        if self.n_contexts == 1:
            return None
        contexts = map(str, range(self.n_contexts))
        return [name_in_context(c, str(arm)) for c in contexts for arm in range(self.n_arms)]

    def _expected(self, location: FloatArray) -> FloatArray:
        lowest, highest = self._bounds()
        if self.rewards == "bernoulli":
            return (location - lowest) / (highest - lowest)
        return expected_rewards(self.rewards, location, self.sigma, (lowest, highest))

    def __getstate__(self) -> dict[str, Any]:
        """Keep the past users, who may know a learned prior."""
        return super().__getstate__() | ({"past": self.past} if "past" in vars(self) else {})

    def __repr__(self) -> str:
        names: list[str] = []
        if self.n_contexts > 1:
            names += ["n_contexts", "arrivals"]
        if self.change_every is not None:
            names += ["change_every", "change"] + ["drift"] * (self.change == "drift")
        if self.past_users:
            names += ["past_users", "past_rewards", "past_seed"]
        more = "".join(f", {name}={getattr(self, name)!r}" for name in names)
        return f"{super().__repr__()[:-1]}{more})"


@dataclass(frozen=True)
class SyntheticChanges(Frozen):
    """Users of a synthetic environment, who change every so many rounds."""

    env: Synthetic
    n: int
    seed: int
    first: int

    @property
    def every(self) -> int:
        """Rounds of a phase."""
        return int(self.env.change_every or 0)

    def phase(self, number: int) -> Problems:
        """Return the users in a phase; 0 is before any change."""
        return self.env.changed(self.n, self.seed, self.first, number)


def check_enough(n_states: int, n_arms: int) -> None:
    """Refuse more distinct orders than there are."""
    if n_arms <= 20 and n_states > math.factorial(n_arms):
        raise LobInputError(
            f"{n_arms} arms have only {math.factorial(n_arms)} orders, but n_states is {n_states}"
        )


def distinct_permutations(
    rng: np.random.Generator, n_users: int, n_states: int, n_arms: int
) -> IntArray:
    """Draw a uniform sequence of distinct permutations for each user."""
    if n_arms <= 20 and math.factorial(n_arms) <= CROWDED * n_states:
        numbers = np.tile(np.arange(math.factorial(n_arms)), (n_users, 1))
        return unrank(rng.permuted(numbers, axis=1)[:, :n_states], n_arms)
    rows = np.broadcast_to(np.arange(n_arms), (n_users, n_states, n_arms))
    drawn = rng.permuted(rows, axis=-1)
    while (again := repeats(drawn)).any():
        drawn[again] = rng.permuted(drawn[again], axis=-1)
    return drawn


def unrank(numbers: IntArray, n_arms: int) -> IntArray:
    """Return the permutations with these numbers, in lexicographic order."""
    every: IntArray = np.array(list(permutations(range(n_arms))))
    return every[numbers]


def repeats(drawn: IntArray) -> BoolArray:
    """Return which permutations came earlier for the same user: (n_users, n_states).

    Only users with two equal hashes, almost never any, are compared exactly.
    """
    found = np.zeros(drawn.shape[:2], dtype=np.bool_)
    powers = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, drawn.shape[2] + 1, dtype=np.uint64)
    hashes = np.sort((drawn.astype(np.uint64) * powers).sum(axis=-1), axis=-1)
    for user in np.flatnonzero((hashes[:, 1:] == hashes[:, :-1]).any(axis=1)):
        _, first = np.unique(drawn[user], axis=0, return_index=True)
        found[user] = True
        found[user, first] = False
    return found
