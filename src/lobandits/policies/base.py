"""The one interface of all policies: frozen values that decide for users' states.

Public methods check and then call their unchecked half, which simulation calls directly:
``choose -> decide``, ``record -> absorb``, ``probabilities -> propensities``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import FloatArray, IntArray, generator, one_of, whole
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_indices
from lobandits.policies.explain import Details, Explanation, rows
from lobandits.policies.state import (
    State,
    Statistics,
    add_rewards,
    checked_rewards,
    fill,
    no_rewards,
    stored_users,
    user_indices,
)

S = TypeVar("S", bound=Statistics)


class Value(ABC, Generic[S]):
    """What policies of rewards and of duels share: a frozen dataclass, and the states it starts.

    Two values are the same if their types and the fields of their constructors are.
    """

    name: ClassVar[str]
    state_type: ClassVar[type[Statistics]]
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

    @abstractmethod
    def new_state(self, n_users: int) -> S:
        """Return an empty state."""

    def restore(self, data: Mapping[str, ArrayLike]) -> S:
        """Return the state whose `to_dict` is ``data``, after checking every array."""
        state = self.start(stored_users(data, fields(self.state_type)[0].name))
        fill(state, data)
        return state

    def to_dict(self) -> dict[str, Any]:
        """Return name and fields as plain data; `policy_from_dict` is the way back."""
        return {"policy": self.name} | {name: _plain(value) for name, value in self._items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value that `to_dict` described, or name the field that is wrong."""
        known = {field.name: field for field in fields(cls) if field.init}  # type: ignore[arg-type]
        given = {name: value for name, value in data.items() if name != "policy"}
        for name in given:
            one_of(f"field of {cls.name}", name, list(known))
        for name, field in known.items():
            if name not in given:
                raise LobInputError(f"{cls.name} lacks the field {name!r}")
            if field.metadata:
                given[name] = field.metadata["decode"](given[name])
        return cls(**given)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __repr__(self) -> str:
        shown = {field.name for field in fields(self) if field.repr}  # type: ignore[arg-type]
        inside = (f"{name}={_short(value)}" for name, value in self._items() if name in shown)
        return f"{type(self).__name__}({', '.join(inside)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **dict(self._items())), ()

    def _items(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):  # type: ignore[arg-type]
            if field.init:
                yield field.name, getattr(self, field.name)

    def _key(self) -> tuple[Any, ...]:
        return tuple(
            (value.shape, value.tobytes()) if isinstance(value, np.ndarray) else value
            for _, value in self._items()
        )

    def _with(self, **changes: Any) -> Self:
        """Return the same value but for some fields."""
        return type(self)(**dict(self._items()) | changes)

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
        """Return the same policy for some of its arms, given by name or number, in that order.

        It decides as if there were no other arms: with the orders induced on them, or with their
        means alone.
        """
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

    def new_state(self, n_users: int) -> State:
        """Return an empty state; policies that remember more override this."""
        return State(**no_rewards(n_users, self.n_arms))

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
        """Return the distribution of `decide` over the random numbers of `draw`, unchecked.

        Like `decide`, it may bring ``state`` up to date.
        """

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
