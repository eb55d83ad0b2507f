"""What a policy remembers of its users, and how rewards are checked and added to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import FloatArray, IntArray, number_array, one_of
from lobandits._jit import kernel
from lobandits.errors import LobInputError

Role = Literal["sum", "memory", "cache"]
Number = TypeVar("Number", float, FloatArray)
S = TypeVar("S", bound="Statistics")

LARGEST = 1e40  # so that means, with their rounding, are values that projections take


def array(role: Role, *axes: str, dtype: Any = np.int64, empty: int = 0) -> dict[str, Any]:
    """Return the metadata of a state's field: what becomes of its array, and how it starts.

    The role is ``"sum"``: `merge` adds it; ``"memory"``: not additive and not derivable, so it is
    stored, and a merge forgets it; or ``"cache"``: derivable, so it is never stored. ``axes``
    follow the one of users; ``empty`` stands for nothing known.
    """
    return {"role": role, "axes": axes, "dtype": dtype, "empty": empty}


@dataclass(eq=False, repr=False)
class Statistics:
    """Arrays with a leading user axis, each described by `array`."""

    def _arrays(self, *roles: Role) -> dict[str, NDArray[Any]]:
        """Return the arrays by name; with ``roles``, only those that have one of them."""
        return {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if not roles or f.metadata["role"] in roles
        }

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(getattr(self, fields(self)[0].name))

    @property
    def n_arms(self) -> int:
        """Number of arms."""
        return int(getattr(self, fields(self)[0].name).shape[1])

    def merge(self, other: Self) -> Self:
        """Return the state of the same users after the rewards of both."""
        if type(other) is not type(self):
            raise LobInputError(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        merged = {}
        for f in fields(self):
            mine, theirs = getattr(self, f.name), getattr(other, f.name)
            if f.metadata["role"] != "sum":
                merged[f.name] = np.full_like(mine, f.metadata["empty"])
            elif mine.shape == theirs.shape:
                merged[f.name] = mine + theirs
            else:
                raise LobInputError(
                    f"cannot merge: {f.name} has shape {mine.shape} here and "
                    f"{theirs.shape} there; both must be of the same users and arms"
                )
        return replace(self, **merged)

    def take(self, users: ArrayLike) -> Self:
        """Return a copy of the state of some users, in the order given."""
        rows = user_indices(users, self.n_users)
        return replace(self, **{name: value[rows] for name, value in self._arrays().items()})

    def copy(self) -> Self:
        """Return a copy that shares no array with this state."""
        return replace(self, **{name: value.copy() for name, value in self._arrays().items()})

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return copies of the arrays that must be stored, for `Policy.restore`."""
        return {name: value.copy() for name, value in self._arrays("sum", "memory").items()}


@dataclass(eq=False, repr=False)
class State(Statistics):
    """Rewards seen by each user: N_a and the sum of rewards of every arm.

    Attributes
    ----------
    counts : int64 (n_users, n_arms)
        Rewards recorded, N_a.
    sums : float64 (n_users, n_arms)
        Their sum, correctly rounded.
    carries : float64 (n_users, n_arms)
        What rounding left out of ``sums``: the exact sum is ``sums + carries``.

    Examples
    --------
    >>> from lobandits.policies import UCB
    >>> policy = UCB(n_arms=2, sigma=1.0)
    >>> here, there = policy.start(), policy.start()
    >>> policy.record(here, arms=[1], rewards=[2.0])
    >>> policy.record(there, arms=[1], rewards=[4.0])
    >>> here.merge(there).means
    array([[nan,  3.]])
    """

    counts: IntArray = field(metadata=array("sum", "arms"))
    sums: FloatArray = field(metadata=array("sum", "arms", dtype=np.float64))
    carries: FloatArray = field(metadata=array("sum", "arms", dtype=np.float64))

    @property
    def plays(self) -> IntArray:
        """Rewards recorded for each user, (n_users,)."""
        plays: IntArray = self.counts.sum(axis=1)
        return plays

    @property
    def means(self) -> FloatArray:
        """Mean reward of every arm, (n_users, n_arms); nan where never played."""
        means = np.full(self.sums.shape, np.nan)
        np.divide(self.sums, self.counts, out=means, where=self.counts > 0)
        return means

    def merge(self, other: Self) -> Self:
        """Return the state of the same users after the rewards of both."""
        merged = super().merge(other)
        total, carry = add_exactly(self.sums, self.carries, other.carries)
        merged.sums, merged.carries = add_exactly(total, carry, other.sums)
        return merged

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_users={self.n_users}, n_arms={self.n_arms}, "
            f"plays={int(self.counts.sum())})"
        )


def empty_state(kind: type[S], n_users: int, **sizes: int) -> S:
    """Return a state of users of whom nothing is known; ``sizes`` are those of the axes."""
    arrays = {}
    for f in fields(kind):
        shape = (n_users, *(sizes[axis] for axis in f.metadata["axes"]))
        arrays[f.name] = np.zeros(shape, f.metadata["dtype"])
        if f.metadata["empty"]:
            arrays[f.name].fill(f.metadata["empty"])
    return kind(**arrays)


def stored_users(data: Mapping[str, ArrayLike], kind: type[Statistics]) -> int:
    """Return how many users a stored state has."""
    name = fields(kind)[0].name
    if not isinstance(data, Mapping) or name not in data:
        raise LobInputError(f"a state needs the array {name!r}")
    return len(np.atleast_1d(number_array(name, data[name])))


def fill(state: S, data: Mapping[str, ArrayLike]) -> S:
    """Copy stored arrays into an empty state, or name the one that does not fit."""
    stored = state._arrays("sum", "memory")
    for name in data:
        one_of("array of a state", name, list(stored))
    for name, target in stored.items():
        if name not in data:
            raise LobInputError(f"the state lacks the array {name!r}")
        floats = target.dtype.kind == "f"
        try:
            value = np.asarray(data[name], np.float64 if floats else None)
        except (TypeError, ValueError) as error:
            raise LobInputError(f"{name} must be an array of numbers: {error}") from None
        if value.shape != target.shape:
            raise LobInputError(f"{name} must have shape {target.shape}, got {value.shape}")
        if not floats and value.dtype.kind not in "iu" and value.size:
            raise LobInputError(f"{name} must be whole numbers, got {value.dtype}")
        target[...] = value
        if not np.isfinite(target).all():
            raise LobInputError(f"{name} must be finite numbers")
        if not floats and (target != value).any():
            raise LobInputError(f"{name} has numbers that are too large")
    for name, total in state._arrays("sum").items():
        if total.dtype.kind != "f" and (total < 0).any():
            raise LobInputError(f"{name} must not be negative")
    return state


def checked_rewards(
    n_users: int, n_arms: int, arms: ArrayLike, rewards: ArrayLike, users: ArrayLike | None
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return users, arms and rewards as arrays, or name the first that cannot be recorded."""
    which = whole_numbers("arms", arms)
    try:
        numbers = np.asarray(rewards)
        if numbers.dtype.kind not in "biufO":
            raise TypeError(f"got {numbers.dtype}")
        values = np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise LobInputError(f"rewards must be numbers: {error}") from None
    if numbers.ndim > 1 or len(values) != len(which):
        raise LobInputError(
            f"arms and rewards must be as long as each other, got {len(which)} arms and "
            f"rewards of shape {numbers.shape}"
        )
    given = checked_users(n_users, len(which), users)
    i, fault = first_fault(given, which, values, n_users, n_arms, LARGEST)
    if fault == 1:
        raise LobInputError(f"users[{i}] is {given[i]}; users go from 0 to {n_users - 1}")
    if fault == 2:
        raise LobInputError(f"arms[{i}] is {which[i]}; arms go from 0 to {n_arms - 1}")
    if fault == 3:
        raise LobInputError(
            f"rewards[{i}] is {values[i]}; a reward must be a finite number, at most {LARGEST:g}"
        )
    return given, which, values


def checked_users(n_users: int, length: int, users: ArrayLike | None) -> IntArray:
    """Return one user index per event: as given, one for all events, or each user once."""
    if users is None:
        if length != n_users:
            raise LobInputError(
                f"got {length} entries for {n_users} users; give one per user, or users= "
                "to say whose they are"
            )
        return np.arange(n_users)
    given = whole_numbers("users", users)
    if np.ndim(users) == 0:
        return np.full(length, given[0])
    if len(given) != length:
        raise LobInputError(f"users has {len(given)} entries, arms has {length}")
    return given


def user_indices(users: ArrayLike, n_users: int) -> IntArray:
    """Return ``users`` as an array of indices, or name the one that does not exist."""
    rows = whole_numbers("users", users)
    wrong = (rows < 0) | (rows >= n_users)
    if wrong.any():
        raise LobInputError(
            f"users has {rows[wrong][0]}, but the users are numbered from 0 to {n_users - 1}"
        )
    return rows


def whole_numbers(name: str, value: ArrayLike) -> IntArray:
    """Return ``value`` as a flat array of whole numbers."""
    numbers = np.asarray(value)
    if numbers.ndim > 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise LobInputError(
            f"{name} must be whole numbers in one row, got {numbers.dtype} of shape {numbers.shape}"
        )
    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


@kernel
def first_fault(
    users: IntArray, arms: IntArray, rewards: FloatArray, n_users: int, n_arms: int, largest: float
) -> tuple[int, int]:
    """Return (index, fault) of the first bad entry: 1 user, 2 arm, 3 reward; 0 if all is well."""
    for i in range(len(users)):
        if not 0 <= users[i] < n_users:
            return i, 1
        if not 0 <= arms[i] < n_arms:
            return i, 2
        if not abs(rewards[i]) <= largest:
            return i, 3
    return -1, 0


@kernel
def add_exactly(total: Number, carry: Number, value: Number) -> tuple[Number, Number]:
    """Add ``value`` to the unevaluated sum ``total + carry`` (two-sum, then renormalise).

    Invariant: |carry| is at most half a unit in the last place of total, so total is the sum
    correctly rounded; about 32 digits survive.
    """
    high = total + value
    part = high - total
    low = (total - (high - part)) + (value - part) + carry
    total = high + low
    return total, low - (total - high)


@kernel
def add_rewards(
    counts: IntArray,
    sums: FloatArray,
    carries: FloatArray,
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
) -> None:
    """Add reward i to arm ``arms[i]`` of user ``users[i]``, in place; users may repeat."""
    for i in range(len(users)):
        u, a = users[i], arms[i]
        counts[u, a] += 1
        sums[u, a], carries[u, a] = add_exactly(sums[u, a], carries[u, a], rewards[i])
