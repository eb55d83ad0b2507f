"""Rewards: the one check of what may be recorded, and sums that lose nothing."""

import math
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from lobandits.basics.checks import FloatArray, IntArray, shaped_array, whole_numbers
from lobandits.basics.kernel import kernel
from lobandits.errors import LobInputError

LARGEST = 1e40  # so that means, with their rounding, are values that projections take
Number = TypeVar("Number", float, FloatArray)


def is_reward(value: Any) -> bool:
    """Tell whether ``value`` is a finite number of at most `LARGEST`."""
    try:
        return math.fabs(value) <= LARGEST
    except (OverflowError, TypeError, ValueError):
        return False


def checked_reward(value: Any, name: str = "reward") -> float:
    """Return one reward as a float, or refuse it by ``name``."""
    if not is_reward(value):
        raise LobInputError(
            f"{name} is {value!r}; a reward must be a finite number, at most {LARGEST:g}"
        )
    return float(value)


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
        checked_reward(values[i].item(), f"rewards[{i}]")
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


def checked_times(
    times: ArrayLike | None, length: int, half_life: float | None
) -> FloatArray | None:
    """Return when each arm was chosen, None if nobody says; only who forgets needs it."""
    if times is None:
        return None
    if half_life is None:
        raise LobInputError("times are for policies that forget; give the policy a half_life")
    return shaped_array("times", times, (length,))


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
