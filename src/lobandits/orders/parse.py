"""From what a person writes (rankings, relations, means) to checked transitive closures.

``where`` opens every message: it names the state, and for files also the file and the field.
"""

import operator
import reprlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import BoolArray, finite_array
from lobandits.errors import LobInputError, LobWarning
from lobandits.orders.arms import arm_index
from lobandits.orders.graph import closure, find_cycle


def as_list(value: Any, message: str, ordered: bool = False) -> list[Any]:
    """Return ``value`` as a list, or refuse what is none (for ``ordered``: what has no order)."""
    no_list = (str, bytes, Mapping, Set) if ordered else (str, bytes, Mapping)
    if isinstance(value, no_list) or not isinstance(value, Iterable):
        raise LobInputError(f"{message}, got {reprlib.repr(value)}")
    return list(value)


def as_states(value: Any, message: str) -> list[Any]:
    """Return ``value`` as a list of at least one state."""
    states = as_list(value, message, ordered=True)
    if not states:
        raise LobInputError(f"{message}, got none; give at least one state")
    return states


def as_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return ``value`` as an array, or refuse what has no shape."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise LobInputError(f"{name} is no array: {error}") from None


def close(edges: BoolArray, arms: Sequence[str], where: str) -> BoolArray:
    """Return the closure of one state's edges (k, k), or name the cycle among them."""
    above = closure(edges)
    if above.diagonal().any():
        cycle = " > ".join(arms[i] for i in find_cycle(edges) or [])
        raise LobInputError(f"{where} has the cycle {cycle}; drop one of these relations")
    return above


def parse_relations(relations: Any, arms: Sequence[str], where: str) -> BoolArray:
    """Return the closure (k, k) of (better, worse) pairs of arms."""
    edges = np.zeros((len(arms), len(arms)), dtype=np.bool_)
    for i, pair in enumerate(
        as_list(relations, f"{where} must be a list of (better, worse) pairs")
    ):
        at = f"{where}, relation {i}"
        ends = as_list(pair, f"{at} must be a (better, worse) pair", ordered=True)
        if len(ends) != 2:
            raise LobInputError(f"{at} must be a (better, worse) pair, got {pair!r}")
        better, worse = (parse_arm(end, arms, at) for end in ends)
        if better == worse:
            raise LobInputError(f"{at} puts arm {arms[better]!r} above itself; remove it")
        edges[better, worse] = True
    return close(edges, arms, where)


def parse_ranking(ranking: Any, arms: Sequence[str], where: str) -> BoolArray:
    """Return the closure (k, k) of the total order that ranks all arms, best first."""
    ranked = as_list(ranking, f"{where} must be a list of arms, best first", ordered=True)
    indices = [parse_arm(item, arms, where) for item in ranked]
    count = Counter(indices)
    faults = [f"{name!r} is missing" for i, name in enumerate(arms) if not count[i]]
    faults += [f"{arms[i]!r} comes {times} times" for i, times in count.items() if times > 1]
    if faults:
        raise LobInputError(
            f"{where} is no permutation of the {len(arms)} arms: {', '.join(faults)}; "
            "rank every arm exactly once"
        )
    position = np.argsort(indices)
    above: BoolArray = position[:, None] < position[None, :]
    return above


def parse_means(means: ArrayLike, ndim: int) -> BoolArray:
    """Return the closures (..., k, k) with the higher mean above; tied arms are incomparable."""
    array = finite_array("means", means, ndim=ndim)
    above: BoolArray = array[..., :, None] > array[..., None, :]
    return above


def parse_arm(arm: Any, arms: Sequence[str], where: str) -> int:
    """Return the number of an arm, or say where the unknown arm was given."""
    try:
        return arm_index(arms, arm)
    except LobInputError as error:
        raise LobInputError(f"{where}: {error}") from None


class OutOfRangeError(LobInputError, IndexError):
    """There is no state, or no user, of that number."""


def parse_position(index: Any, count: int, noun: str) -> int:
    """Return the number of a state or user; as in lists, -1 is the last."""
    try:
        number = operator.index(index)
    except TypeError:
        raise LobInputError(f"a {noun} is chosen by its number, got {index!r}") from None
    if not -count <= number < count:
        raise OutOfRangeError(f"{noun} {number} is out of range; they go from 0 to {count - 1}")
    return number % count


def parse_matrix(name: str, value: ArrayLike, ndim: int) -> BoolArray:
    """Return ``value`` as a boolean array with two equal last axes."""
    array = as_array(name, value)
    if array.dtype != np.bool_:
        raise LobInputError(f"{name} must be boolean, got dtype {array.dtype}")
    if array.ndim != ndim or array.shape[-1] != array.shape[-2]:
        shape = "(n_arms, n_arms)" if ndim == 2 else "(n_states, n_arms, n_arms)"
        raise LobInputError(f"{name} must have the shape {shape}, got {array.shape}")
    return array


def warn_of_repeats(precedes: BoolArray, stacklevel: int) -> None:
    """Warn if some of the states (m, k, k) have the same order, and name them."""
    states: dict[bytes, list[int]] = {}
    for s, state in enumerate(precedes):
        states.setdefault(state.tobytes(), []).append(s)
    repeated = [" and ".join(map(str, same)) for same in states.values() if len(same) > 1]
    if repeated:
        warnings.warn(
            f"states {'; '.join(repeated)} have the same order; states are meant to be mutually "
            "incompatible, so keep one of each",
            LobWarning,
            stacklevel=stacklevel,
        )
