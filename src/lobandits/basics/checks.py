"""Types of arrays, and checks that each name the value they refuse and the fix."""

import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.errors import LobInputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
A = TypeVar("A", bound=np.generic)


def read_only(array: "np.ndarray[Any, np.dtype[A]]") -> "np.ndarray[Any, np.dtype[A]]":
    """Return ``array``, C-contiguous, with writing switched off."""
    fixed = np.ascontiguousarray(array)
    fixed.setflags(write=False)
    return fixed


def number_array(name: str, value: ArrayLike) -> FloatArray:
    """Return ``value`` as a float array, or refuse what holds no real numbers."""
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO":
            raise TypeError(f"got {given.dtype}")
        return given.astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise LobInputError(f"{name} must be an array of numbers: {error}") from None


def finite_array(name: str, value: ArrayLike, ndim: int | None = None) -> FloatArray:
    """Return ``value`` as a float array, or say which entry is no finite number."""
    array = number_array(name, value)
    if ndim is not None and array.ndim != ndim:
        raise LobInputError(f"{name} must have {ndim} axes, got shape {array.shape}")
    if not np.isfinite(array).all():
        at = np.argwhere(~np.isfinite(array))[0].tolist()
        wrong = array[tuple(at)]
        raise LobInputError(f"{name}{at or ''} is {wrong}; every value must be a finite number")
    return array


def shaped_array(name: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return ``value`` as an array of finite numbers, or refuse another shape."""
    array = finite_array(name, value)
    if array.shape != shape:
        raise LobInputError(f"{name} must have the shape {shape}, got {array.shape}")
    return array


def whole_numbers(name: str, value: ArrayLike) -> IntArray:
    """Return ``value`` as a flat array of whole numbers."""
    numbers = np.asarray(value)
    if numbers.ndim > 1 or (numbers.dtype.kind not in "iu" and numbers.size):
        raise LobInputError(
            f"{name} must be whole numbers in one row, got {numbers.dtype} of shape {numbers.shape}"
        )
    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


def user_indices(users: ArrayLike, n_users: int) -> IntArray:
    """Return ``users`` as an array of indices, or name the one that does not exist."""
    rows = whole_numbers("users", users)
    wrong = (rows < 0) | (rows >= n_users)
    if wrong.any():
        raise LobInputError(
            f"users has {rows[wrong][0]}, but the users are numbered from 0 to {n_users - 1}"
        )
    return rows


LEAST_SPREAD, LARGEST_SPREAD = 1e-50, 1e50


def checked_spread(name: str, value: float) -> float:
    """Return a standard deviation, or refuse one whose square is no sound number."""
    number = positive(name, value)
    if not LEAST_SPREAD <= number <= LARGEST_SPREAD:
        raise LobInputError(
            f"{name} must lie between {LEAST_SPREAD:g} and {LARGEST_SPREAD:g}, got {value!r}"
        )
    return number


def positive(name: str, value: float) -> float:
    """Return ``value`` as a finite float above 0."""
    number = real(name, value)
    if number <= 0:
        raise LobInputError(f"{name} must be positive, got {value!r}")
    return number


UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def seconds_of(name: str, text: str) -> float:
    """Return the seconds of a span of time such as 90s, 45m, 12h, 30d or 4w."""
    number, unit = str(text).strip()[:-1], str(text).strip()[-1:]
    try:
        return positive(name, float(number) * UNITS[unit])
    except (KeyError, ValueError):
        raise LobInputError(
            f"{name} must be a span of time such as 12h, 30d or 4w, got {text!r}"
        ) from None


def not_negative(name: str, value: float) -> float:
    """Return ``value`` as a finite float of at least 0."""
    number = real(name, value)
    if number < 0:
        raise LobInputError(f"{name} must not be negative, got {value!r}")
    return number


def real(name: str, value: float) -> float:
    """Return ``value`` as a finite float."""
    try:
        if isinstance(value, str | bytes | bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise LobInputError(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(number):
        raise LobInputError(f"{name} must be a finite number, got {value!r}")
    return number


def whole(name: str, value: Any, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` as an int of at least ``least``, and at most ``most``."""
    try:
        number = operator.index(value)
    except TypeError:
        raise LobInputError(f"{name} must be a whole number, got {value!r}") from None
    if number < least or isinstance(value, bool):
        raise LobInputError(f"{name} must be a whole number of at least {least}, got {value!r}")
    if most is not None and number > most:
        raise LobInputError(f"{name} must be a whole number of at most {most}, got {value!r}")
    return number


def fraction(name: str, value: float) -> float:
    """Return ``value`` as a float in [0, 1]."""
    number = real(name, value)
    if not 0 <= number <= 1:
        raise LobInputError(f"{name} must lie between 0 and 1, got {value!r}")
    return number


def interval(name: str, value: tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) as floats that do not decrease."""
    low, high = ends(name, value)
    if low > high:
        raise LobInputError(f"{name} must be (low, high), got {value!r}")
    return low, high


def ends(name: str, value: tuple[float, float]) -> tuple[float, float]:
    """Return (low, high) as floats."""
    try:
        low, high = value
    except (TypeError, ValueError):
        raise LobInputError(f"{name} must be (low, high), got {value!r}") from None
    return real(f"{name}[0]", low), real(f"{name}[1]", high)


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """Return ``rng`` itself, or a generator seeded with it."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(whole("rng", rng, least=0))


def one_of(name: str, value: str, known: Sequence[str]) -> str:
    """Return ``value`` if it is known; else name the closest of those that are."""
    if value in known:
        return value
    hint = closest(str(value), known)
    raise LobInputError(f"unknown {name} {value!r}; {hint}Known: {', '.join(known)}")


def closest(value: str, known: Sequence[str]) -> str:
    """Return the question whether the closest known name was meant, if any is close."""
    from difflib import get_close_matches

    close = get_close_matches(value, known, n=1, cutoff=0.4)
    return f"did you mean {close[0]!r}? " if close else ""
