"""The one interface of all policies: frozen values that decide for users' states.

Public methods check and then call their unchecked half, which simulation calls directly:
``choose -> decide``, ``record -> absorb``, ``probabilities -> propensities``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import FloatArray, IntArray, generator, one_of, whole
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_indices
from lobandits.policies.state import (
    S,
    State,
    add_rewards,
    checked_rewards,
    empty_state,
    fill,
    stored_users,
    user_indices,
)


class Value(ABC, Generic[S]):
    """What policies of rewards and of duels share: a frozen dataclass, and the states it starts.

    Two values are the same if their types and the fields of their constructors are.
    """

    name: ClassVar[str]
    state_type: ClassVar[type[Any]]
    n_arms: int
    arms: tuple[str, ...]

    @property
    def n_users(self) -> int | None:
        """Number of users that the policy is made for; None if all users share it."""
        return None

    def take(self, users: ArrayLike) -> Self:
        """Return the policy for some of its users; itself if all users share it."""
        return self

    def start(self, n_users: int | None = None) -> S:
        """Return the state of ``n_users`` users without plays (by default 1, or `n_users`)."""
        default = self.n_users
        n = whole("n_users", (default or 1) if n_users is None else n_users)
        if default not in (None, n):
            raise LobInputError(f"n_users is {n}, but this policy has parts for {default} users")
        return self.new_state(n)

    def new_state(self, n_users: int) -> S:
        """Return an empty state; policies whose states have other axes override this."""
        state: S = empty_state(self.state_type, n_users, arms=self.n_arms)
        return state

    def restore(self, data: Mapping[str, ArrayLike]) -> S:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        return fill(self.start(stored_users(data, self.state_type)), data)

    def to_dict(self) -> dict[str, Any]:
        """Return name and fields as plain data; `policy_from_dict` is the way back."""
        plain = {name: _plain(value) for name, value in self._items().items()}
        return {"policy": self.name} | plain

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value that `to_dict` described, or name the field that is wrong."""
        known = cls._fields()
        given = {name: value for name, value in data.items() if name != "policy"}
        for name in given:
            one_of(f"field of {cls.name}", name, list(known))
        for name, of in known.items():
            if name not in given:
                raise LobInputError(f"{cls.name} lacks the field {name!r}")
            if of.metadata:
                given[name] = of.metadata["decode"](given[name])
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        shown = [name for name, of in self._fields().items() if of.repr]
        inside = (f"{name}={_short(getattr(self, name))}" for name in shown)
        return f"{type(self).__name__}({', '.join(inside)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **self._items()), ()

    @classmethod
    def _fields(cls) -> dict[str, Field[Any]]:
        """Return the fields of the constructor."""
        return {f.name: f for f in fields(cls) if f.init}  # type: ignore[arg-type]

    def _items(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._fields()}

    def _key(self) -> tuple[Any, ...]:
        return tuple(
            (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
            for value in self._items().values()
        )

    def _with(self, **changes: Any) -> Self:
        """Return the same value but for some fields."""
        return type(self)(**self._items() | changes)

    def _fix(self, **values: Any) -> None:
        """Set fields of a frozen value while it is being made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _check(self, state: S) -> None:
        if type(state) is not self.state_type:
            raise LobInputError(
                f"{self.name} needs a {self.state_type.__name__}, as start() makes it, "
                f"got {type(state).__name__}"
            )
        n = state.n_users
        if state.n_arms != self.n_arms or self.n_users not in (None, n):
            raise LobInputError(
                f"the state has {n} users and {state.n_arms} arms, the policy "
                f"{self.n_users or 'any number of'} users and {self.n_arms} arms"
            )
        for name, shape in self._stored_shapes.items():
            found = getattr(state, name).shape
            if found != (n, *shape):
                raise LobInputError(
                    f"the state's {name} has shape {found}, but this {self.name} needs "
                    f"{(n, *shape)}: another policy made the state"
                )

    @cached_property
    def _stored_shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes, for one user, of the arrays that a state stores."""
        stored = self.new_state(1)._arrays("sum", "memory")
        return {name: array.shape[1:] for name, array in stored.items()}


class Details(NamedTuple):
    """What one policy adds to an `Explanation`: columns per arm and per state, and notes."""

    arms: Mapping[str, NDArray[Any]] = {}
    states: Mapping[str, NDArray[Any]] = {}
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Explanation:
    """What a policy knows of one user; ``print`` shows it as tables.

    Attributes
    ----------
    title : str
        The policy and the user.
    arms, states : list of dict
        One row per arm, one per state if the policy has states.
    notes : list of str
        What a person should know beyond the tables.
    """

    title: str
    arms: list[dict[str, Any]]
    states: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        parts = [self.title, _table(self.arms), _table(self.states), "\n".join(self.notes)]
        return "\n\n".join(part for part in parts if part)


class Policy(Value[State]):
    """Decides which arm each user plays, from the rewards recorded so far.

    Attributes
    ----------
    name : str
        The key of this policy in `POLICIES`.
    n_arms : int
        Number of arms.
    arms : tuple of str
        Their names.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> policy = UCB(n_arms=3, sigma=1.0)
    >>> state = policy.start(n_users=2)
    >>> policy.record(state, arms=[0, 2], rewards=[1.5, 0.5])
    >>> policy.probabilities(state)
    array([[0. , 0.5, 0.5],
           [0.5, 0.5, 0. ]])
    """

    state_type: ClassVar[type[State]] = State

    def only(self, arms: Iterable[Arm]) -> Self:
        """Return the policy for some arms, by name or number, in that order, as if alone."""
        some = arm_indices(self.arms, arms)
        return self._with(n_arms=len(some), arms=tuple(self.arms[a] for a in some))

    @property
    def counts_suffice(self) -> bool:
        """Whether decisions depend on counts and sums alone: only these must be stored."""
        return True

    def choose(self, state: State, rng: np.random.Generator | int) -> IntArray:
        """Return one arm for each user, (n_users,).

        A batch draws the same random numbers as its users one after the other.
        """
        self._check(state)
        return self.decide(state, self.draw(generator(rng), (state.n_users,)))

    def record(
        self, state: State, arms: ArrayLike, rewards: ArrayLike, users: ArrayLike | None = None
    ) -> None:
        """Add rewards to ``state``, in place; nothing is written if anything is refused.

        Parameters
        ----------
        state
            The state to change.
        arms, rewards
            Which arm was played, and its reward.
        users
            Whose rewards these are: by default one for each user, in order. Else any users, in
            any order, each as often as you like.
        """
        self._check(state)
        self.absorb(state, *checked_rewards(state.n_users, self.n_arms, arms, rewards, users))

    def probabilities(self, state: State) -> FloatArray:
        """Return the chance that `choose` picks each arm, (n_users, n_arms)."""
        self._check(state)
        return self.propensities(state.copy())

    def explain(self, state: State, user: int = 0) -> Explanation:
        """Return what speaks for each arm of one user: plays, means, bounds, probabilities."""
        self._check(state)
        row = user_indices(user, state.n_users)
        one, policy = state.take(row), self.take(row)
        details = policy.details(one)
        arms = {"arm": policy.arms, "plays": one.counts[0], "mean": one.means[0], **details.arms}
        n_states = len(next(iter(details.states.values()), ()))
        return Explanation(
            title=f"{self!r}, user {user}, {int(one.plays[0])} plays",
            arms=rows(**arms, probability=policy.propensities(one)[0]),
            states=rows(state=range(n_states), **details.states),
            notes=list(details.notes),
        )

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = super().restore(data)
        if ((state.counts == 0) & (state.sums != 0)).any():
            raise LobInputError("sums must be 0 where counts is 0")
        return state

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
        """Return the random numbers of decisions: by default one uniform for each."""
        return rng.random(shape)

    @abstractmethod
    def decide(self, state: State, noise: FloatArray) -> IntArray:
        """Return one arm for each user from the random numbers of `draw`, unchecked."""

    def absorb(self, state: State, users: IntArray, arms: IntArray, rewards: FloatArray) -> None:
        """Add rewards to ``state``, unchecked; policies that remember more override this."""
        add_rewards(state.counts, state.sums, state.carries, users, arms, rewards)

    @abstractmethod
    def propensities(self, state: State) -> FloatArray:
        """Return the chances of `decide`, unchecked; like it, may bring ``state`` up to date."""

    @abstractmethod
    def details(self, state: State) -> Details:
        """Return the tables that explain the choice for the one user in ``state``."""


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))}>"
    return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return list(value)
    return value.to_dict() if hasattr(value, "to_dict") else value


def rows(**columns: Sequence[Any] | NDArray[Any]) -> list[dict[str, Any]]:
    """Return columns of equal length as rows of plain Python values."""
    plain = {n: c.tolist() if isinstance(c, np.ndarray) else list(c) for n, c in columns.items()}
    return [dict(zip(plain, values, strict=True)) for values in zip(*plain.values(), strict=True)]


def _table(table: list[dict[str, Any]]) -> str:
    """Return rows as aligned text: words to the left, numbers to the right."""
    columns = []
    for name in table[0] if table else ():
        values = [row[name] for row in table]
        cells = [name, *map(_cell, values)]
        align = str.ljust if isinstance(values[0], str) else str.rjust
        columns.append([align(cell, max(map(len, cells))) for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.4g}"
    return str(value)
