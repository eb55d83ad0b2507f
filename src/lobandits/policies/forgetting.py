"""Forgetting: states whose rewards fade, by a half-life, once a user has changed.

Who forgets without need explores for ever. So all of time is kept beside the faded sums
(`faded_sums`), and read as long as both agree (`change`). What is read is a pure function of sums,
whatever the order in which these were made.
"""

from dataclasses import field, fields, make_dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from lobandits.basics.checks import BoolArray, FloatArray, IntArray, one_of, positive
from lobandits.errors import LobInputError
from lobandits.policies.change import TRUST
from lobandits.policies.faded_reading import (
    CHANGED,
    CLOCK,
    FACTS,
    HALF_LIFE,
    LEAST,
    TURNED,
    add_read,
    effective_numbers,
    fade_others,
    fade_users,
    read,
    settle,
)
from lobandits.policies.faded_sums import (
    COLUMNS,
    COUNT,
    SQUARES,
    SUM,
    WEIGHT,
    add_ledger,
    write_weights,
)
from lobandits.policies.state import S, State, array

ALWAYS, ON_CHANGE = "always", "on_change"
Emptied = list[tuple[Any, int]]  # arrays, and what stands for nothing known
Open = tuple[FloatArray, FloatArray, Any, FloatArray, FloatArray]


class Forgetting(State):
    """A state that forgets: ``counts`` and ``sums`` are what is read of the ledger beside them.

    Of a user who has changed, they fade as the clock moves on. The clock counts plays, unless
    rewards come with times.

    Attributes
    ----------
    ledger : float64 (n_users, n_arms, 8)
        The sums of all time and the faded ones, by the columns of `faded_sums`.
    facts : float64 (n_users, 5)
        Half-life, limit, clocks and whether it has changed, by the columns of `faded_reading`.
    """

    ledger: FloatArray
    facts: FloatArray
    added: ClassVar = {
        "ledger": array("sum", "arms", "columns", dtype=np.float64, ages="keep"),
        "facts": array("memory", "facts", dtype=np.float64),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self.calm = False  # True: nobody has changed, as was seen since rewards last spoke for it
        arrays: Open = self.ledger, self.facts, self.counts, self.sums, self.carries
        self.open = arrays  # that kernels take
        self._aging: Aging | None = None

    @property
    def plays(self) -> IntArray:
        """Rewards recorded for each user, whatever they weigh now, (n_users,)."""
        plays: IntArray = self.ledger[:, :, COUNT].sum(axis=1).astype(np.int64)
        return plays

    @property
    def changed(self) -> BoolArray:
        """Who has changed, (n_users,): of these, rewards fade."""
        return self.facts[:, CHANGED] > 0

    @property
    def effective(self) -> tuple[Any, FloatArray]:
        r"""Counts :math:`(\sum g)^2 / \sum g^2`, which bounds need, and sums of the same means."""
        if not self.calm:
            both = np.empty((2, *self.counts.shape))
            if effective_numbers(*self.open[:4], both):
                return both[0], both[1]
            self.calm = True
        return self.counts, self.sums

    @property
    def recent(self) -> FloatArray:
        """What rewards weigh now, (n_users, n_arms), whether or not users have changed."""
        weights = np.empty((self.n_users, self.n_arms))
        halvings = self.facts[:, CLOCK] / self.facts[:, HALF_LIFE]
        write_weights(self.ledger, halvings, LEAST, weights)
        return weights

    def move(self, users: IntArray, times: FloatArray) -> None:
        """Set the clocks of some users, each named once, and let what is read fade until then."""
        self.facts[users, CLOCK] = times
        some = self.changed[users]
        self.fade(users[some], times[some])

    def fade(self, users: IntArray, times: FloatArray) -> None:
        """Let what is read of users who have changed fade until some times."""
        fade_users(self.aging.fades, self.facts, users, times)
        self._empty(users, self.aging.resets)

    def add_faded(
        self,
        users: IntArray,
        arms: IntArray,
        rewards: FloatArray,
        times: FloatArray,
        some: IntArray,
    ) -> None:
        """Add ``some`` rewards, of users who have changed, to what is read."""
        add_read(self.aging.fades, self.ledger, self.facts, users, arms, rewards, times, some)
        self._empty(users[some], self.aging.resets)

    def follow(self, told: float) -> None:
        """Bring along what is kept of one user who has or had changed, after `tally_play`."""
        self.calm = False
        if told == TURNED:
            self.reread(np.zeros(1, np.int64))
            return
        aging = self.aging
        if aging.others:
            fade_others(aging.others, 0, 0, told)
        self._empty(0, aging.resets)

    def check(self) -> Self:
        """Refuse sums that no rewards have."""
        counts, weights = self.ledger[:, :, COUNT], self.ledger[:, :, WEIGHT]
        if (self.facts[:, HALF_LIFE] <= 0).any():
            raise LobInputError("the half-lives in facts must be positive")
        if ((counts < 0) | (counts != np.floor(counts))).any():
            raise LobInputError("the counts in the ledger must be whole numbers from 0")
        if (weights < 0).any() or (self.ledger[:, :, SQUARES] < 0).any():
            raise LobInputError("the weights in the ledger must not be negative")
        if ((counts == 0) & ((self.ledger[:, :, SUM] != 0) | (weights > 0))).any():
            raise LobInputError("sums and weights in the ledger must be 0 where the count is 0")
        return self

    def settle(self) -> Self:
        """Judge all users and read what their sums say, after these were set."""
        self.calm = False
        settle(*self.open)
        return self

    def reread(self, users: IntArray) -> None:
        """Read the sums of some users anew; what was derived from the old reading is forgotten."""
        read(*self.open, users)
        self._empty(users, self.aging.resets)
        self._empty(users, self.aging.renews)

    @staticmethod
    def _empty(users: IntArray | int, arrays: Emptied) -> None:
        """Forget what is of some users in arrays."""
        for rows, empty in arrays:
            rows[users] = empty

    @property
    def aging(self) -> "Aging":
        """The arrays by how they age, kept since finding them takes time."""
        if self._aging is None:
            self._aging = aging_of(self)
        return self._aging

    def merge(self, other: Self) -> Self:
        """Return the state after the rewards of both, whose clocks must be the same clock."""
        if type(other) is type(self):
            mine, theirs = self.facts[:, HALF_LIFE], other.facts[:, HALF_LIFE]
            if not np.array_equal(mine, theirs):
                raise LobInputError(
                    f"cannot merge: the half-lives are {mine.tolist()} here and "
                    f"{theirs.tolist()} there"
                )
        super().merge(other)  # refuses what does not fit
        parts, users = (self.copy(), other.copy()), np.arange(self.n_users)
        clocks = [np.where(part.plays > 0, part.facts[:, CLOCK], -np.inf) for part in parts]
        now = np.where(np.isinf(np.maximum(*clocks)), 0.0, np.maximum(*clocks))
        for part in parts:
            part.move(users, now)  # what a policy adds up beside counts and sums
        merged = State.merge(*parts)
        merged.facts[:], merged.facts[:, CLOCK], merged.ledger[:] = self.facts, now, 0.0
        for part in parts:
            add_ledger(merged.ledger, part.ledger)
        return merged.settle()

    def __reduce__(self) -> Any:
        return _rebuilt, (type(self).__bases__[1], self.arrays())


class Aging(NamedTuple):
    """A state's arrays, by how they age."""

    fades: tuple[FloatArray, ...]  # counts, sums and carries first; each with two axes
    others: tuple[FloatArray, ...]  # of these, all but the first three
    resets: Emptied  # what starts anew whenever rewards fade
    renews: Emptied  # and what does where others are read


def aging_of(state: Forgetting) -> Aging:
    """Return the arrays of a state by how they age."""
    kind: Any = type(state)
    fades = []
    for name in _aging(kind, "scale"):
        view = getattr(state, name).view()
        view.shape = (state.n_users, view.size // max(state.n_users, 1))
        fades.append(view)
    resets, renews = (
        [(getattr(state, name), empty) for name, empty in _aging(kind, ages).items()]
        for ages in ("reset", "renew")
    )
    return Aging(tuple(fades), tuple(fades[3:]), resets, renews)


@cache
def _aging(kind: Any, ages: str) -> dict[str, int]:
    """Return the arrays of a kind of state that age so, and what stands for nothing known."""
    return {f.name: f.metadata["empty"] for f in fields(kind) if f.metadata["ages"] == ages}


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
    return -1.0 if always else TRUST * float(sigma or 0.0) ** 2


def with_half_life(policy: Any, state: S) -> S:
    """Return an empty state of a policy as one that forgets."""
    ledger = np.zeros((*state.counts.shape, COLUMNS))
    return with_ledger(policy, state, ledger, policy.half_life, 0.0)


def with_ledger(policy: Any, state: S, ledger: FloatArray, half_life: float, now: float) -> S:
    """Return an empty state as one that forgets, has this ledger, and a clock that says now."""
    kind: Any = type(state)
    made: Any = forgetting(kind)
    arrays = state.arrays()
    for name in _aging(kind, "scale"):
        arrays[name] = arrays[name].astype(np.float64, copy=False)
    limit = limit_of(policy)
    facts = np.empty((len(ledger), FACTS))
    facts[:] = half_life, limit, now, 0.0, limit < 0  # the columns in their order
    with_facts: S = made(**arrays, ledger=ledger, facts=facts)
    return with_facts
