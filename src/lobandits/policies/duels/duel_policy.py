"""DuelPolicy: which two arms each user compares next, from the duels recorded so far.

Defining a named subclass makes it known to `DUEL_POLICIES`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import IntArray, finite_array, generator, one_of, user_indices, whole
from lobandits.basics.frozen import Frozen
from lobandits.errors import LobInputError
from lobandits.policies.registry import ProblemLike, known_of, split_options
from lobandits.statistics.rewards import checked_users

_classes: dict[str, "type[DuelPolicy]"] = {}
DUEL_POLICIES: Mapping[str, "type[DuelPolicy]"] = MappingProxyType(_classes)
"""The class of every policy of duels, by its name."""


@dataclass(eq=False)
class DuelState:
    """Duels seen by each user.

    Attributes
    ----------
    wins : int64 (n_users, n_arms, n_arms)
        ``wins[u, a, b]`` is how often arm a won against arm b.
    """

    wins: IntArray

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.wins)

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(self.wins.shape[1])

    def merge(self, other: "DuelState") -> "DuelState":
        """Return the state of the same users after the duels of both."""
        if not isinstance(other, DuelState) or other.wins.shape != self.wins.shape:
            raise LobInputError(
                f"cannot merge {self!r} with {other!r}; both must be of the same users and arms"
            )
        return DuelState(self.wins + other.wins)

    def take(self, users: ArrayLike) -> "DuelState":
        """Return a copy of the state of some users, in the order given."""
        return DuelState(self.wins[user_indices(users, self.n_users)])

    def copy(self) -> "DuelState":
        """Return a copy that shares no array with this state."""
        return DuelState(self.wins.copy())

    def __repr__(self) -> str:
        duels = int(self.wins.sum())
        return f"DuelState(n_users={self.n_users}, n_arms={self.n_arms}, duels={duels})"


class DuelPolicy(Frozen, ABC):
    """Decides which two arms each user compares; a frozen dataclass with a name.

    Attributes
    ----------
    name : str
        Its key in `DUEL_POLICIES`.
    n_arms : int
        Number of arms.
    arms : tuple of str
        Their names.
    """

    name: ClassVar[str]
    n_arms: int
    arms: tuple[str, ...]

    def __init_subclass__(cls, **options: Any) -> None:
        """Make a class that has a name of its own known to `DUEL_POLICIES`."""
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            _classes[cls.name] = cls

    @abstractmethod
    def pairs(self, state: DuelState, rng: np.random.Generator) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2), unchecked."""

    @property
    def n_users(self) -> int | None:
        """Number of users that the policy is made for; None if all users share it."""
        return None

    def start(self, n_users: int | None = None) -> DuelState:
        """Return the state of ``n_users`` users without duels (by default 1, or `n_users`)."""
        default = self.n_users
        n = whole("n_users", (default or 1) if n_users is None else n_users)
        if default not in (None, n):
            raise LobInputError(f"n_users is {n}, but this policy has parts for {default} users")
        return DuelState(np.zeros((n, self.n_arms, self.n_arms), np.int64))

    def choose(self, state: DuelState, rng: np.random.Generator | int) -> IntArray:
        """Return two arms for each user to compare, (n_users, 2)."""
        self._check(state)
        return self.pairs(state, generator(rng))

    def record(
        self,
        state: DuelState,
        pairs: ArrayLike,
        winners: ArrayLike,
        users: ArrayLike | None = None,
    ) -> None:
        """Add duels to ``state``, in place; nothing is written if anything is refused.

        Parameters
        ----------
        state
            The state to change.
        pairs
            The two arms of each duel, (n_duels, 2).
        winners
            Which of the two won, (n_duels,); -1 for a draw, which counts for nothing.
        users
            Whose duels these are: by default one for each user, in order.
        """
        self._check(state)
        duels, won = checked_duels(pairs, winners, self.n_arms)
        given = user_indices(checked_users(state.n_users, len(won), users), state.n_users)
        lost = duels.sum(axis=1) - won
        decided = (won >= 0) & (won != lost)
        np.add.at(state.wins, (given[decided], won[decided], lost[decided]), 1)

    def to_dict(self) -> dict[str, Any]:
        """Return name and fields as plain data; `from_dict` is the way back."""
        return {"policy": self.name} | self._plain()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the policy that `to_dict` described, or name the field that is wrong."""
        given = {name: value for name, value in data.items() if name != "policy"}
        return cls(**cls._decoded(given, cls.name))

    def _check(self, state: DuelState) -> None:
        if not isinstance(state, DuelState):
            raise LobInputError(
                f"{self.name} needs a DuelState, as start() makes it, got {state!r}"
            )
        n, k = state.n_users, self.n_arms
        if state.wins.shape != (n, k, k) or self.n_users not in (None, n):
            raise LobInputError(
                f"the state has {n} users and {state.n_arms} arms, the policy "
                f"{self.n_users or 'any number of'} users and {k} arms"
            )


def checked_duels(pairs: ArrayLike, winners: ArrayLike, n_arms: int) -> tuple[IntArray, IntArray]:
    """Return duels as arrays (d, 2) and (d,), or name the first that cannot be recorded."""
    duels, won = np.asarray(pairs), np.asarray(winners)
    if not duels.size and not won.size:
        return np.empty((0, 2), np.int64), np.empty(0, np.int64)
    whole = duels.dtype.kind in "iu" and won.dtype.kind in "iu"
    if not whole or won.ndim != 1 or duels.shape != (len(won), 2):
        raise LobInputError(
            "pairs must be whole numbers of shape (n_duels, 2) and winners of shape (n_duels,), "
            f"got {duels.dtype} of shape {duels.shape} and {won.dtype} of shape {won.shape}"
        )
    outside = ((duels < 0) | (duels >= n_arms)).any(axis=1)
    foreign = (won != -1) & (duels != won[:, None]).all(axis=1)
    if outside.any():
        i = int(outside.argmax())
        raise LobInputError(f"pairs[{i}] is {duels[i].tolist()}; arms go from 0 to {n_arms - 1}")
    if foreign.any():
        i = int(foreign.argmax())
        raise LobInputError(
            f"winners[{i}] is {won[i]}, which is neither arm of {duels[i].tolist()} nor -1 (a draw)"
        )
    return duels.astype(np.int64), won.astype(np.int64)


def duels_from_rewards(
    arms: ArrayLike, rewards: ArrayLike, draws: bool = False
) -> tuple[IntArray, IntArray]:
    """Return independent duels (a_1, a_2), (a_3, a_4), ... of consecutive plays.

    The first arm wins if its reward is larger, else the second. A last play alone is left out.

    Parameters
    ----------
    arms, rewards
        Plays in time order, (n_plays,) for one user or (..., n_plays).
    draws
        Whether equal rewards are a draw (winner -1).

    Returns
    -------
    pairs : int64 (..., n_plays // 2, 2)
    winners : int64 (..., n_plays // 2)

    Examples
    --------
    >>> pairs, winners = duels_from_rewards([0, 1, 2, 0], [3.0, 1.0, 2.0, 5.0])
    >>> pairs.tolist(), winners.tolist()
    ([[0, 1], [2, 0]], [0, 0])
    """
    plays, values = np.asarray(arms), finite_array("rewards", rewards)
    if plays.ndim == 0 or plays.shape != values.shape or (plays.dtype.kind != "i" and plays.size):
        raise LobInputError(
            f"arms must be whole numbers and as many as rewards, got {plays.dtype} of shape "
            f"{plays.shape} and rewards of shape {values.shape}"
        )
    n = plays.shape[-1] // 2 * 2
    pairs = np.stack([plays[..., 0:n:2], plays[..., 1:n:2]], axis=-1).astype(np.int64)
    first, second = values[..., 0:n:2], values[..., 1:n:2]
    winners = np.where(first > second, pairs[..., 0], pairs[..., 1])
    return pairs, np.where(first == second, -1, winners) if draws else winners


def make_duel_policy(name: str, problems: ProblemLike, **options: Any) -> DuelPolicy:
    """Return a policy of duels that knows what it may know of ``problems``.

    ``name`` is a key of `DUEL_POLICIES`, perhaps with options: ``"relative(rho=0.1)"``.
    """
    name, written = split_options(name, list(DUEL_POLICIES))
    cls = DUEL_POLICIES[name]
    parameters = list(cls._fields())
    for option in options | written:
        one_of(f"option of {name}", option, parameters)
    return cls(**known_of(problems, parameters) | written | options)
