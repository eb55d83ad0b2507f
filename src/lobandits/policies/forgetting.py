r"""Forgetting: what a user showed at time t counts :math:`2^{-(now - t) / h}` at time now.

For a half-life h, a reward r of time t adds its weight :math:`g = 2^{(t - L) / h}` to the count of
its arm and g r to the sum, for a landmark L; reading multiplies both by :math:`2^{-(now - L) / h}`
(forward decay, Cormode et al. 2009). That stays additive: shards merge, and late rewards count with
their own time. Here the landmark is the latest time known of a user, so nothing overflows, and
policies read counts and sums as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, Self

import numpy as np

from lobandits._checks import FloatArray, IntArray, positive
from lobandits._frozen import Frozen
from lobandits._jit import kernel
from lobandits.errors import LobInputError
from lobandits.policies.state import S, State, array

NOTHING = 400.0  # half-lives after which a reward counts for nothing: its weight would be 1e-120


@dataclass(frozen=True)
class HalfLife(Frozen):
    """What every policy has: the half-life of its users' rewards, in plays; None forgets never.

    It is written down and shown only where it is given.
    """

    half_life: float | None = field(default=None, kw_only=True, repr=False)

    def _plain(self) -> dict[str, Any]:
        given = {} if self.half_life is None else {"half_life": self.half_life}
        return {n: v for n, v in super()._plain().items() if n != "half_life"} | given

    @classmethod
    def _decoded(cls, data: Any, kind: str) -> dict[str, Any]:
        return super()._decoded({"half_life": None, **data}, kind)

    def __repr__(self) -> str:
        text = super().__repr__()
        if self.half_life is None:
            return text
        return f"{text[:-1]}{'' if text.endswith('()') else ', '}half_life={self.half_life:g})"


class Forgetting(State):
    """A state that forgets: all that adds up fades as the clock of a user moves on.

    ``counts`` are weights. The clock counts plays, unless rewards come with times.
    """

    half_life: FloatArray
    clock: FloatArray
    played: IntArray
    squares: FloatArray
    added: ClassVar = {
        "half_life": array("memory", dtype=np.float64),
        "clock": array("memory", dtype=np.float64),
        "played": array("sum", ages="keep"),
        "squares": array("sum", "arms", dtype=np.float64, ages="square"),
    }

    @property
    def plays(self) -> IntArray:
        """Rewards recorded for each user, whatever they weigh now, (n_users,)."""
        return self.played

    @property
    def effective(self) -> tuple[Any, FloatArray]:
        r"""Counts :math:`(\sum g)^2 / \sum g^2`, which bounds need, and sums of the same means."""
        share = np.ones(self.counts.shape)
        np.divide(self.counts, self.squares, out=share, where=self.squares > 0)
        return self.counts * share, self.sums * share

    def move(self, users: IntArray, times: FloatArray) -> None:
        """Set the clocks of some users, each named once, and let what is known fade until then."""
        fade(*self._fading, self.clock, self.half_life, users, times, 2.0**-NOTHING)
        for name, empty in self._resets:
            getattr(self, name)[users] = empty

    @cached_property
    def _resets(self) -> list[tuple[str, int]]:
        """What is forgotten at once, and what then stands for nothing known."""
        return [
            (f.name, f.metadata["empty"]) for f in fields(self) if f.metadata["ages"] == "reset"
        ]

    @cached_property
    def _fading(self) -> tuple[tuple[FloatArray, ...], FloatArray]:
        """What fades, each array with two axes, views of those that policies read; and squares."""
        views = []
        for f in fields(self):
            if f.metadata["ages"] == "scale":
                view = getattr(self, f.name).view()
                view.shape = (self.n_users, view.size // max(self.n_users, 1))
                views.append(view)
        return tuple(views), self.squares

    def merge(self, other: Self) -> Self:
        """Return the state after the rewards of both, whose clocks must be the same clock."""
        if type(other) is type(self) and not np.array_equal(self.half_life, other.half_life):
            raise LobInputError(
                f"cannot merge: the half-lives are {self.half_life.tolist()} here and "
                f"{other.half_life.tolist()} there"
            )
        super().merge(other)  # refuses what does not fit
        parts, users = (self.copy(), other.copy()), np.arange(self.n_users)
        clocks = [np.where(part.played > 0, part.clock, -np.inf) for part in parts]
        now = np.where(np.isinf(np.maximum(*clocks)), 0.0, np.maximum(*clocks))
        for part in parts:
            part.move(users, now)
        merged = State.merge(*parts)
        merged.half_life[:], merged.clock[:] = self.half_life, now
        return merged

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self).__bases__[1], self.arrays())


@cache
def forgetting(kind: Any) -> type[Forgetting]:
    """Return the kind of state that forgets, with floats for all that fades."""
    changed = [
        (f.name, FloatArray, field(metadata={**f.metadata, "dtype": np.float64}))
        for f in fields(kind)
        if f.metadata["ages"] == "scale"
    ]
    added = [(name, Any, field(metadata=of)) for name, of in Forgetting.added.items()]
    made: Any = make_dataclass(
        f"Forgetting{kind.__name__}", [*changed, *added], bases=(Forgetting, kind),
        eq=False, repr=False,
    )  # fmt: skip
    return made  # type: ignore[no-any-return]


def _rebuilt(kind: Any, arrays: dict[str, Any]) -> Forgetting:
    return forgetting(kind)(**arrays)


def with_half_life(state: S, half_life: float) -> S:
    """Return an empty state as one that forgets."""
    kind: Any = type(state)
    made = forgetting(kind)
    arrays: dict[str, Any] = {}
    for f in fields(made):
        shape = (state.n_users, *(state.n_arms for axis in f.metadata["axes"] if axis == "arms"))
        old = getattr(state, f.name, None)
        new = np.zeros(shape) if old is None else old
        arrays[f.name] = np.ascontiguousarray(new, f.metadata["dtype"])
    arrays["half_life"][:] = positive("half_life", half_life)
    return made(**arrays)  # type: ignore[return-value]


def add_and_forget(
    policy: Any,
    state: Any,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray | None = None,
) -> None:
    """Add rewards at their times, by default one play after the other, in any order.

    For a late reward the clock is set back to its own time, and then to now again: so policies,
    which add with weight 1, need not know of it.
    """
    for some in _each_once(users):
        who = users[some]
        if times is None:
            _add(policy, state, who, arms[some], rewards[some], state.clock[who] + 1.0)
        else:
            _add_at(policy, state, who, arms[some], rewards[some], times[some])


def _add(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
) -> None:
    """Move the clocks of different users, and add a reward of weight 1 for each."""
    state.move(users, times)
    policy.absorb(state, users, arms, rewards)
    count_plays(state.played, state.squares, users, arms)


def _add_at(
    policy: Any,
    state: Forgetting,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    times: FloatArray,
) -> None:
    """Add rewards of different users at times that may have passed; too late, they only count."""
    now = np.where(state.played[users] > 0, state.clock[users], times)
    heard = now - times < NOTHING * state.half_life[users]
    state.played[users[~heard]] += 1
    _add(policy, state, users[heard], arms[heard], rewards[heard], times[heard])
    state.move(users[heard], np.maximum(now, times)[heard])


def _each_once(users: IntArray) -> Iterator[IntArray]:
    """Yield places of ``users``, in order, such that no user comes twice."""
    left = np.arange(len(users))
    while len(left):
        first = left if len(left) == 1 else np.unique(users[left], return_index=True)[1]
        if len(first) == len(left):
            yield left
            return
        yield left[np.sort(first)]
        left = np.delete(left, first)


@kernel
def fade(
    arrays: tuple[FloatArray, ...],
    squares: FloatArray,
    clock: FloatArray,
    half_life: FloatArray,
    users: IntArray,
    times: FloatArray,
    least: float,
) -> None:
    """Set the clocks of users, and multiply their rows by 2^(-(time - clock) / half-life).

    Squares of weights, by the square; arms that weigh less than ``least`` are forgotten. The first
    arrays are counts, sums and carries. O(numbers in these rows).
    """
    counts, sums, carries = arrays[0], arrays[1], arrays[2]
    for i in range(len(users)):
        u = users[i]
        factor = 2.0 ** ((clock[u] - times[i]) / half_life[u])
        for rows in arrays:
            for j in range(rows.shape[1]):
                rows[u, j] = rows[u, j] * factor if factor > 0.0 else 0.0
        for a in range(counts.shape[1]):
            squares[u, a] *= factor * factor
            if counts[u, a] < least:  # so that none vanishes before the others
                counts[u, a] = sums[u, a] = carries[u, a] = squares[u, a] = 0.0
        clock[u] = times[i]


@kernel
def count_plays(played: IntArray, squares: FloatArray, users: IntArray, arms: IntArray) -> None:
    """Count a reward of weight 1 for each of some users."""
    for i in range(len(users)):
        played[users[i]] += 1
        squares[users[i], arms[i]] += 1.0
