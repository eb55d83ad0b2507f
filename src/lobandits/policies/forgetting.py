"""Forgetting: states whose rewards fade, by a half-life, once a user has changed.

Who forgets without need explores for ever. So all of time is kept beside the faded sums
(`faded_sums`), and read as long as both agree (`change`). What is read is a pure function of sums,
whatever the order in which these were made.
"""

from collections.abc import Iterator
from dataclasses import field, fields, make_dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lobandits._checks import BoolArray, FloatArray, IntArray, one_of, positive
from lobandits._jit import Plain, unnamed
from lobandits.errors import LobInputError
from lobandits.policies.change import DOUBT, Verdict, judge
from lobandits.policies.faded_reading import (
    CALM,
    CHANGED,
    Reading,
    add_read,
    fade,
    read,
    tally,
    tally_play,
)
from lobandits.policies.faded_sums import Sums, add_recent, faded
from lobandits.policies.rewards import add_exactly
from lobandits.policies.state import S, State, array

ALWAYS, ON_CHANGE = "always", "on_change"
NOTHING = 400.0  # half-lives after which a reward counts for nothing: its weight would be 1e-120


class Forgetting(State):
    """A state that forgets: ``counts`` and ``sums`` are what is read of the sums kept beside them.

    Of a user who has changed, they fade as the clock moves on. The clock counts plays, unless
    rewards come with times.
    """

    half_life: FloatArray
    limit: FloatArray
    clock: FloatArray
    read_at: FloatArray
    total_counts: IntArray
    total_sums: FloatArray
    total_carries: FloatArray
    recent_counts: FloatArray
    recent_sums: FloatArray
    recent_squares: FloatArray
    epochs: IntArray
    doubts: FloatArray
    changed: BoolArray
    added: ClassVar = {
        "half_life": array("memory", dtype=np.float64),
        "limit": array("memory", dtype=np.float64),
        "clock": array("memory", dtype=np.float64),
        "read_at": array("cache", dtype=np.float64),
        "total_counts": array("sum", "arms", ages="keep"),
        "total_sums": array("sum", "arms", dtype=np.float64, ages="keep"),
        "total_carries": array("sum", "arms", dtype=np.float64, ages="keep"),
        "recent_counts": array("memory", "arms", dtype=np.float64),
        "recent_sums": array("memory", "arms", dtype=np.float64),
        "recent_squares": array("memory", "arms", dtype=np.float64),
        "epochs": array("memory", "arms"),
        "doubts": array("cache", "arms", dtype=np.float64),
        "changed": array("cache", dtype=np.bool_),
    }

    @property
    def plays(self) -> IntArray:
        """Rewards recorded for each user, whatever they weigh now, (n_users,)."""
        plays: IntArray = self.total_counts.sum(axis=1)
        return plays

    @property
    def effective(self) -> tuple[Any, FloatArray]:
        r"""Counts :math:`(\sum g)^2 / \sum g^2`, which bounds need, and sums of the same means."""
        if not np.count_nonzero(self.changed):  # a microsecond sooner than any()
            return self.counts, self.sums
        share = np.ones(self.counts.shape)
        faded = self.changed[:, np.newaxis] & (self.counts > 0)
        np.divide(self.recent_counts**2, self.recent_squares, out=share, where=faded)
        np.divide(share, self.counts, out=share, where=faded)
        return self.counts * share, self.sums * share

    @cached_property
    def kept(self) -> Sums:
        """The sums, as kernels take them."""
        return Sums(
            self.total_counts, self.total_sums, self.total_carries,
            self.recent_counts, self.recent_sums, self.recent_squares, self.epochs,
        )  # fmt: skip

    @cached_property
    def reading(self) -> Reading:
        """What is read, as kernels take it."""
        return Reading(self.counts, self.sums, self.carries, self.read_at)

    @cached_property
    def verdict(self) -> Verdict:
        """Whether users have changed, as kernels take it."""
        return Verdict(self.doubts, self.changed, self.limit)

    @cached_property
    def open(self) -> Plain:
        """All of these, half-lives and clocks, as kernels take them soonest."""
        parts = self.kept, self.verdict, self.reading, self.half_life, self.clock
        plain: Plain = unnamed(parts)
        return plain

    def recent_at(self, users: IntArray, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the weights and weighted sums of some users at some times."""
        counts, sums = np.empty((2, len(users), self.n_arms))
        faded(self.kept, self.half_life, users, times, counts, sums, 2.0**-NOTHING)
        return counts, sums

    def move(self, users: IntArray, times: FloatArray) -> None:
        """Set the clocks of some users, each named once, and let what is read fade until then."""
        self.clock[users] = times
        some = self.changed[users]
        self._fade(users[some], times[some])

    def _fade(self, users: IntArray, times: FloatArray) -> None:
        """Let what is read of users who have changed fade until some times."""
        fade(self._fading, self.read_at, self.half_life, users, times, 2.0**-NOTHING)
        self._empty(users, "reset")

    def add_faded(
        self,
        users: IntArray,
        arms: IntArray,
        rewards: FloatArray,
        times: FloatArray,
        some: IntArray,
    ) -> None:
        """Add ``some`` rewards, of users who have changed, to what is read."""
        args = self._fading, self.total_counts, self.read_at, self.half_life
        add_read(*args, users, arms, rewards, times, some, NOTHING)
        self._empty(users[some], "reset")

    def check(self) -> Self:
        """Refuse sums that no rewards have."""
        for name in ("recent_counts", "recent_squares"):
            if (getattr(self, name) < 0).any():
                raise LobInputError(f"{name} must not be negative")
        if ((self.total_counts == 0) & ((self.total_sums != 0) | (self.recent_counts > 0))).any():
            raise LobInputError("total_sums and recent_counts must be 0 where total_counts is 0")
        return self

    def settle(self) -> Self:
        """Read what the sums of all users say, after these were set."""
        users = np.arange(self.n_users)
        if (self.limit < 0).all():
            self.changed[:] = True  # whatever the doubts
        else:
            judge(self.kept, self.verdict, users)
        self._read(users)
        return self

    def reread(self, users: IntArray) -> None:
        """Read the sums of some users anew; what was derived from the old reading is forgotten."""
        self._read(users)
        self._empty(users, "reset", "renew")

    def _read(self, users: IntArray) -> None:
        args = self.kept, self.changed, self.half_life, self.clock
        read(*args, users, 2.0**-NOTHING, self.reading)

    def _empty(self, users: IntArray, *ages: str) -> None:
        """Forget what is of some users, where an array ages so."""
        kind: Any = type(self)
        for name, empty in _aging(kind, ages):
            getattr(self, name)[users] = empty

    @cached_property
    def _fading(self) -> tuple[FloatArray, ...]:
        """What fades, each array with two axes, views of those that policies read."""
        views = []
        for f in fields(self):
            if f.metadata["ages"] == "scale":
                view = getattr(self, f.name).view()
                view.shape = (self.n_users, view.size // max(self.n_users, 1))
                views.append(view)
        return tuple(views)

    def merge(self, other: Self) -> Self:
        """Return the state after the rewards of both, whose clocks must be the same clock."""
        if type(other) is type(self) and not np.array_equal(self.half_life, other.half_life):
            raise LobInputError(
                f"cannot merge: the half-lives are {self.half_life.tolist()} here and "
                f"{other.half_life.tolist()} there"
            )
        super().merge(other)  # refuses what does not fit
        parts, users = (self.copy(), other.copy()), np.arange(self.n_users)
        clocks = [np.where(part.plays > 0, part.clock, -np.inf) for part in parts]
        now = np.where(np.isinf(np.maximum(*clocks)), 0.0, np.maximum(*clocks))
        for part in parts:
            part.move(users, now)  # what a policy adds up beside counts and sums
        merged = State.merge(*parts)
        merged.half_life[:], merged.limit[:], merged.clock[:] = self.half_life, self.limit, now
        total, carry = add_exactly(self.total_sums, self.total_carries, other.total_carries)
        merged.total_sums[:], merged.total_carries[:] = add_exactly(total, carry, other.total_sums)
        for part in parts:
            add_recent(merged.kept, part.kept)
        return merged.settle()

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self).__bases__[1], self.arrays())


@cache
def _aging(kind: Any, ages: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return the arrays of a kind of state that age so, and what stands for nothing known."""
    return [(f.name, f.metadata["empty"]) for f in fields(kind) if f.metadata["ages"] in ages]


@cache
def forgetting(kind: Any) -> type[Forgetting]:
    """Return the kind of state that forgets, with floats for all that fades.

    Counts and sums are read from others, so they need not be stored.
    """
    changed = [
        (f.name, FloatArray, field(metadata={**f.metadata, "dtype": np.float64, **_role(f.name)}))
        for f in fields(kind)
        if f.metadata["ages"] == "scale"
    ]
    added = [(name, Any, field(metadata=of)) for name, of in Forgetting.added.items()]
    made: Any = make_dataclass(
        f"Forgetting{kind.__name__}", [*changed, *added], bases=(Forgetting, kind),
        eq=False, repr=False,
    )  # fmt: skip
    return made  # type: ignore[no-any-return]


def _role(name: str) -> dict[str, str]:
    return {"role": "cache"} if name in ("counts", "sums", "carries") else {}


def _rebuilt(kind: Any, arrays: dict[str, Any]) -> Forgetting:
    return forgetting(kind)(**arrays)


def check_forgetting(policy: Any) -> None:
    """Refuse a half-life that is none, and ways to forget that are unknown."""
    if policy.half_life is not None:
        positive("half_life", policy.half_life)
    one_of("forget", policy.forget, (ON_CHANGE, ALWAYS))


def limit_of(policy: Any) -> float:
    """Return how large a doubt must be before a user of the policy has changed.

    It is below 0, so that everybody has, where the noise of rewards is not known, where a policy
    remembers more of rewards than counts and sums, and where it is to forget always.
    """
    sigma = getattr(policy, "sigma", None)
    always = policy.forget == ALWAYS or sigma is None or policy.absorbs_more
    return -1.0 if always else DOUBT * float(sigma or 0.0) ** 2


@cache
def _layout(kind: Any) -> list[tuple[str, Any, bool]]:
    """Return the arrays of a kind of state: name, type, and whether there is one number an arm."""
    return [(f.name, f.metadata["dtype"], "arms" in f.metadata["axes"]) for f in fields(kind)]


def with_half_life(policy: Any, state: S) -> S:
    """Return an empty state of a policy as one that forgets."""
    kind: Any = type(state)
    made: Any = forgetting(kind)
    arrays: dict[str, Any] = {}
    for name, dtype, by_arm in _layout(made):
        if name in Forgetting.added:
            arrays[name] = np.zeros(state.counts.shape if by_arm else state.n_users, dtype)
        else:
            arrays[name] = np.ascontiguousarray(getattr(state, name), dtype)
    check_forgetting(policy)
    arrays["half_life"][:] = policy.half_life
    arrays["limit"][:] = limit_of(policy)
    arrays["changed"][:] = arrays["limit"] < 0
    empty: S = made(**arrays)
    return empty


def add_and_forget(
    policy: Any,
    state: Any,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray | None = None,
) -> None:
    """Add rewards at their times, by default one play after the other, in any order.

    Then what is read is brought along. Of users who have not changed that is done at once: it is
    what it would be without forgetting.
    """
    when = np.empty(len(users)) if times is None else times
    was = np.empty(len(users), np.bool_)
    if not tally(state.open, users, arms, rewards, when, times is None, was):
        _bring_along(policy, state, users, arms, rewards, when, was)


def add_play(policy: Any, state: Any, arm: int, reward: float) -> None:
    """Add a reward of the one user of a state, a play after the one before."""
    told = tally_play(state.open, arm, reward)
    if told != CALM:
        one = np.zeros(1, np.int64), np.array([arm]), np.array([reward]), state.clock.copy()
        _bring_along(policy, state, *one, np.array([told == CHANGED]))


def _bring_along(
    policy: Any,
    state: Any,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    when: FloatArray,
    was: BoolArray,
) -> None:
    """Bring what is read along, of users who have changed, or had before."""
    same = was == state.changed[users]
    stayed = np.flatnonzero(same & was)
    if not policy.absorbs_more:
        state.add_faded(users, arms, rewards, when, stayed)
    else:
        for some in _each_once(users, stayed):
            _absorb_faded(policy, state, users[some], arms[some], rewards[some], when[some])
    if len(stayed) < len(users):
        state.reread(np.unique(users[~same]))


def _absorb_faded(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
) -> None:
    """Let a policy add rewards of different users, who have changed, to what is read.

    For a late reward the reading is set back to its time, and then to now again: so policies,
    which add with weight 1, need not know of it.
    """
    first = state.plays[users] == 1
    now = np.where(first, times, state.read_at[users])
    state.read_at[users] = now
    heard = now - times < NOTHING * state.half_life[users]
    some = users[heard]
    state._fade(some, times[heard])
    policy.absorb(state, some, arms[heard], rewards[heard])
    if (now > times).any():
        state._fade(some, np.maximum(now, times)[heard])


def _each_once(users: IntArray, left: IntArray) -> Iterator[IntArray]:
    """Yield the places ``left`` of ``users``, in order, such that no user comes twice."""
    while len(left):
        first = np.sort(np.unique(users[left], return_index=True)[1])
        yield left[first]
        left = np.delete(left, first)
