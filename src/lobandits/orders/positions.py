"""States and users by their numbers."""

import operator
import reprlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.errors import LobInputError
from lobandits.orders.parse import as_array


class OutOfRangeError(LobInputError, IndexError):
    """There is no state, or no user, of that number."""


def parse_position(index: Any, count: int, noun: str) -> int:
    """Return the number of a state or user; -1 is the last."""
    try:
        number = operator.index(index)
    except TypeError:
        raise LobInputError(f"a {noun} is chosen by its number, got {index!r}") from None
    if not -count <= number < count:
        raise OutOfRangeError(f"{noun} {number} is out of range; they go from 0 to {count - 1}")
    return number % count


def parse_positions(
    values: ArrayLike, count: int, noun: str, wanted: str, least: int = 0
) -> NDArray[np.integer]:
    """Return at least ``least`` numbers of states or users."""
    array = as_array(f"{noun}s", values)
    if not array.size:
        array = array.astype(np.int64)
    if array.ndim != 1 or len(array) < least or array.dtype.kind not in "iu":
        raise LobInputError(f"{noun}s must be {wanted}, got {reprlib.repr(values)}")
    outside = array[(array < 0) | (array >= count)]
    if outside.size:
        raise LobInputError(
            f"{noun} {outside[0]} is out of range; the {noun}s are 0 to {count - 1}"
        )
    return array
