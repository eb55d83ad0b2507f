"""From what a person writes (arms, rankings, relations, means) to numbers and checked closures.

``where`` opens every message: it names the state, and for files also the file and the field.
"""

import operator
import reprlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lobandits._checks import BoolArray, closest, finite_array, whole
from lobandits.errors import LobInputError, LobWarning
from lobandits.orders.tables import closure, find_cycle

Arm = SupportsIndex | str


def arm_names(n_arms: int | None, arms: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return one unique name per arm, by default ``"0", "1", ...``; ``n_arms`` of them if given."""
    if arms is None:
        return tuple(map(str, range(whole("n_arms", n_arms))))
    if isinstance(arms, str) or not isinstance(arms, Iterable):
        raise LobInputError(f"arms must be a list of names, got {arms!r}")
    names = tuple(_name(f"arms[{i}]", name) for i, name in enumerate(arms))
    if len(names) != whole("n_arms", len(names) if n_arms is None else n_arms):
        raise LobInputError(f"arms has {len(names)} names for {n_arms} arms; give one per arm")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise LobInputError(f"arms names {twice[0]!r} more than once; every name must be unique")
    return names


def _name(field: str, name: Any) -> str:
    if not isinstance(name, str):
        raise LobInputError(f"{field} is {name!r}; an arm name must be a string")
    if not name.strip():
        raise LobInputError(f"{field} is {name!r}; an arm name must not be blank")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise LobInputError(f"{field} is {name!r}, which is no valid Unicode text") from None
    return str(name)


def arm_index(arms: Sequence[str], arm: Any, where: str = "") -> int:
    """Return the number of ``arm``, given as its number or its name."""
    if isinstance(arm, str):
        if arm in arms:
            return arms.index(arm)
        listed = ", ".join(arms[:20]) + (", ..." if len(arms) > 20 else "")
        raise LobInputError(
            f"{where}unknown arm {arm!r}; {closest(arm, arms)}The arms are {listed}"
        )
    try:
        index = operator.index(arm)
    except TypeError:
        index = -1
    if isinstance(arm, bool) or not 0 <= index < len(arms):
        raise LobInputError(
            f"{where}arm {arm!r} is out of range; give a number from 0 to {len(arms) - 1} or an "
            "arm's name"
        )
    return index


def arm_indices(arms: Sequence[str], some: Iterable[Arm]) -> list[int]:
    """Return the numbers of some arms, at least one and each once."""
    if isinstance(some, str) or not isinstance(some, Iterable):
        raise LobInputError(f"arms must be a list of arms, got {some!r}")
    indices = [arm_index(arms, arm) for arm in some]
    if not indices:
        raise LobInputError("no arms were given; give at least one")
    twice = [i for i, count in Counter(indices).items() if count > 1]
    if twice:
        raise LobInputError(f"arms names {arms[twice[0]]!r} more than once; give every arm once")
    return indices


def counted(number: int, noun: str) -> str:
    """Return "1 state", "2 states"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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


def warn_of_repeats(precedes: BoolArray, stacklevel: int) -> None:
    """Warn of states (m, k, k) with the same order."""
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
