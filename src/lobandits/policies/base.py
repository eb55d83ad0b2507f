"""The one interface of all policies: a frozen value that decides for users' states.

A policy holds hyper-parameters and orders; what it knows of its users is a `State`. Public
methods check and then call their unchecked half, which simulation calls directly:
``choose -> decide``, ``record -> absorb``, ``probabilities -> propensities``.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import FloatArray, IntArray, generator, whole
from lobandits.errors import LobInputError
from lobandits.orders.arms import Arm, arm_indices
from lobandits.policies.explain import Details, Explanation, rows
from lobandits.policies.rewards import add_rewards, checked_rewards, user_indices
from lobandits.policies.state import State, fill, no_rewards, stored_users
from lobandits.policies.value import Value

P = TypeVar("P", bound="Policy")


class Policy(Value, ABC):
    """Decides which arm each user plays, from the rewards recorded so far.

    Attributes
    ----------
    name : str
        The key of this policy in `POLICIES`.
    n_arms : int
        Number of arms.
    arms : tuple of str
        Their names.
    """

    state_type: ClassVar[type[State]] = State
    n_arms: int
    arms: tuple[str, ...]

    @property
    def n_users(self) -> int | None:
        """Number of users that the policy is made for; None if all users share it."""
        return None

    def take(self: P, users: ArrayLike) -> P:
        """Return the policy for some of its users; itself if all users share it."""
        return self

    def only(self: P, arms: Iterable[Arm]) -> P:
        """Return the same policy for some of its arms, given by name or number, in that order.

        It decides as if there were no other arms: orders are those induced on ``arms``, means
        lose their other columns, and rewards of other arms count for nothing.
        """
        some = arm_indices(self.arms, arms)
        names = tuple(self.arms[a] for a in some)
        return type(self)(**dict(self._items()) | {"n_arms": len(some), "arms": names})

    @property
    def counts_suffice(self) -> bool:
        """Whether decisions depend on counts and sums alone, so that these are all to be stored."""
        return True

    def start(self, n_users: int | None = None) -> State:
        """Return the state of ``n_users`` users without rewards (by default 1, or `n_users`)."""
        default = self.n_users
        n = whole("n_users", (default or 1) if n_users is None else n_users)
        if default not in (None, n):
            raise LobInputError(f"n_users is {n}, but this policy has parts for {default} users")
        return self.new_state(n)

    def choose(self, state: State, rng: np.random.Generator | int) -> IntArray:
        """Return one arm for each user, (n_users,).

        Users are served in order: a batch draws the same random numbers as its users
        would draw one after the other.
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
            Whose rewards these are: by default one for each user, in order. Any users, in any
            order, late, and several rewards for one user are fine.
        """
        self._check(state)
        self.absorb(state, *checked_rewards(state.n_users, self.n_arms, arms, rewards, users))

    def probabilities(self, state: State) -> FloatArray:
        """Return the chance that `choose` picks each arm, (n_users, n_arms); changes nothing."""
        self._check(state)
        return self.propensities(state.copy())

    def explain(self, state: State, user: int = 0) -> Explanation:
        """Return what speaks for each arm for one user: plays, means, bounds, probabilities."""
        self._check(state)
        row = user_indices(user, state.n_users)
        one, policy = state.take(row), self.take(row)
        details = policy.details(one)
        arms = {"arm": policy.arms, "plays": one.counts[0], "mean": one.means[0], **details.arms}
        return Explanation(
            title=f"{self!r}, user {user}, {int(one.plays[0])} plays",
            arms=rows(**arms, probability=policy.propensities(one)[0]),
            states=rows(state=range(_length(details.states)), **details.states),
            notes=list(details.notes),
        )

    def restore(self, data: Mapping[str, ArrayLike]) -> State:
        """Return the state whose `State.to_dict` is ``data``, after checking every array."""
        state = self.start(stored_users(data, "counts"))
        fill(state, data)
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

        Like `decide`, it may bring what a policy remembers in ``state`` up to date.
        """

    @abstractmethod
    def details(self, state: State) -> Details:
        """Return the tables that explain the choice for the one user in ``state``."""

    def _check(self, state: State) -> None:
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


def _length(columns: Mapping[str, NDArray[Any]]) -> int:
    return len(next(iter(columns.values()), ()))
