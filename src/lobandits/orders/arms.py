"""Arms and their names: unique strings, or by default ``"0", "1", ...``.

``where`` opens every message: it names the state, and for files also the file and the field.
"""

import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from lobandits.basics.checks import closest, whole
from lobandits.errors import LobInputError

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
