"""From what a person writes (rankings, relations, means, matrices) to checked closures.

States and users are given by their numbers.

``where`` opens every message: it names the state, and for files also the file and the field.
"""

import operator
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits.basics.checks import BoolArray, finite_array
from lobandits.errors import LobInputError
from lobandits.orders.arms import arm_index, arm_names
from lobandits.orders.closure import closure, find_cycle


def as_list(value: Any, message: str, ordered: bool = True) -> list[Any]:
    """Return ``value`` as a list; if ``ordered``, refuse what has no order."""
    no_list = (str, bytes, Mapping, Set) if ordered else (str, bytes, Mapping)
    if isinstance(value, no_list) or not isinstance(value, Iterable):
        raise LobInputError(f"{message}, got {reprlib.repr(value)}")
    return list(value)


def as_states(value: Any, message: str) -> list[Any]:
    """Return ``value`` as a list of at least one state."""
    states = as_list(value, message)
    if not states:
        raise LobInputError(f"{message}, got none; give at least one state")
    return states


def as_array(name: str, value: ArrayLike) -> NDArray[Any]:
    """Return ``value`` as an array, or refuse what has no shape."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise LobInputError(f"{name} is no array: {error}") from None


def parse_matrix(value: ArrayLike, ndim: int) -> BoolArray:
    """Return ``precedes`` as a boolean array with two equal last axes."""
    array = as_array("precedes", value)
    if array.dtype != np.bool_:
        raise LobInputError(f"precedes must be boolean, got dtype {array.dtype}")
    if array.ndim != ndim or array.shape[-1] != array.shape[-2]:
        shape = "(n_arms, n_arms)" if ndim == 2 else "(n_states, n_arms, n_arms)"
        raise LobInputError(f"precedes must have the shape {shape}, got {array.shape}")
    return array


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
    pairs = as_list(relations, f"{where} must be a list of (better, worse) pairs", ordered=False)
    for i, pair in enumerate(pairs):
        at = f"{where}, relation {i}"
        ends = as_list(pair, f"{at} must be a (better, worse) pair")
        if len(ends) != 2:
            raise LobInputError(f"{at} must be a (better, worse) pair, got {pair!r}")
        better, worse = (arm_index(arms, end, f"{at}: ") for end in ends)
        if better == worse:
            raise LobInputError(f"{at} puts arm {arms[better]!r} above itself; remove it")
        edges[better, worse] = True
    return close(edges, arms, where)


def ranked_names(rankings: list[list[Any]]) -> tuple[str, ...]:
    """Return the names that rankings mention, sorted; else those of as many arms as are ranked."""
    numbered = arm_names(max(map(len, rankings)), None)
    mentioned = {item for row in rankings for item in row if isinstance(item, str)}
    return numbered if mentioned <= set(numbered) else arm_names(None, sorted(mentioned))


def parse_ranking(ranking: list[Any], arms: Sequence[str], where: str) -> BoolArray:
    """Return the closure (k, k) of a ranking of all arms, best first."""
    indices = [arm_index(arms, item, f"{where}: ") for item in ranking]
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
    """Return the closures (..., k, k) with the higher mean above."""
    array = finite_array("means", means, ndim=ndim)
    above: BoolArray = array[..., :, None] > array[..., None, :]
    return above


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
