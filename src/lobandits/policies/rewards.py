"""Recording rewards: checked first, then added without losing digits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lobandits._checks import FloatArray, IntArray, positive
from lobandits._jit import kernel
from lobandits.errors import LobInputError

LARGEST = 1e40  # so that means, with their rounding, are values that projections take
LEAST_SPREAD, LARGEST_SPREAD = 1e-50, 1e50


class Rewards(NamedTuple):
    """Reward i was given to user ``users[i]`` for arm ``arms[i]``: arrays of one length."""

    users: IntArray
    arms: IntArray
    rewards: FloatArray


def checked_rewards(
    n_users: int, n_arms: int, arms: ArrayLike, rewards: ArrayLike, users: ArrayLike | None
) -> Rewards:
    """Return the rewards as arrays, or name the first that cannot be recorded."""
    which = whole_numbers("arms", arms)
    try:
        numbers = np.asarray(rewards)
        if numbers.dtype.kind not in "biufO":
            raise TypeError(f"got {numbers.dtype}")
        values = np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as error:
        raise LobInputError(f"rewards must be numbers: {error}") from None
    if np.ndim(rewards) > 1 or len(values) != len(which):
        raise LobInputError(
            f"arms and rewards must be as long as each other, got {len(which)} arms and "
            f"rewards of shape {np.shape(rewards)}"
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
    return Rewards(given, which, values)


def checked_spread(name: str, value: float) -> float:
    """Return a standard deviation, or refuse one whose square is no sound number."""
    number = positive(name, value)
    if not LEAST_SPREAD <= number <= LARGEST_SPREAD:
        raise LobInputError(
            f"{name} must lie between {LEAST_SPREAD:g} and {LARGEST_SPREAD:g}, got {value!r}"
        )
    return number


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
    users: IntArray,
    arms: IntArray,
    rewards: FloatArray,
    n_users: int,
    n_arms: int,
    largest: float,
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
def add_exactly(total: float, carry: float, value: float) -> tuple[float, float]:
    """Add ``value`` to the unevaluated sum ``total + carry`` (two-sum, then renormalise).

    Invariant: |carry| is at most half a unit in the last place of total, so total alone is
    the sum correctly rounded; about 32 digits survive.
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


@kernel
def add_sums(
    sums: FloatArray,
    carries: FloatArray,
    more: FloatArray,
    more_carries: FloatArray,
    out: FloatArray,
    out_carries: FloatArray,
) -> None:
    """Write the sums of two states, each an unevaluated ``sums + carries``, to ``out``."""
    for u in range(sums.shape[0]):
        for a in range(sums.shape[1]):
            total, carry = add_exactly(sums[u, a], carries[u, a], more_carries[u, a])
            out[u, a], out_carries[u, a] = add_exactly(total, carry, more[u, a])
