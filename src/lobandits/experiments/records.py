"""The records of one experiment, by the values at which their parts stand on its axes."""

from collections.abc import Mapping
from typing import Any

from lobandits.errors import LobError
from lobandits.experiments.parts import Record

Key = tuple[tuple[str, Any], ...]
"""The place of a part in an experiment: the value on each axis."""
AXIS_TITLES = {"n_states": "m"}
"""Axes that readers know under another name."""


class Records(dict[Key, Record]):
    """The records of an experiment, by key.

    ``data`` is the edition of the ratings, if there are any, and ``title`` tells more of them.
    """

    def __init__(self, records: Mapping[Key, Record], data: str = "", title: str = "") -> None:
        super().__init__(records)
        self.data = data
        self.title = title

    def at(self, **values: Any) -> Record:
        """Return the record at these values of the axes."""
        for key, record in self.items():
            if values.items() <= dict(key).items():
                return record
        raise LobError(f"no part at {', '.join(f'{k} = {v}' for k, v in values.items())}")

    def along(self, axis: str, **values: Any) -> dict[Any, Record]:
        """Return the records by their value on one axis, at these values of the others."""
        found = dict.fromkeys(dict(key)[axis] for key in self if axis in dict(key))
        return {value: self.at(**{axis: value}, **values) for value in found}


def axis_title(axis: str) -> str:
    """Return how readers know an axis."""
    return AXIS_TITLES.get(axis, axis)


def axis_values(key: Key) -> dict[str, Any]:
    """Return the values of a key under the names that readers know."""
    return {axis_title(axis): value for axis, value in key}


def key_text(key: Key) -> str:
    """Return a key as readers see it.

    Examples
    --------
    >>> key_text((("sigma", 1.0), ("n_states", 15)))
    'sigma = 1, m = 15'
    """
    return ", ".join(f"{axis} = {value_text(value)}" for axis, value in axis_values(key).items())


def value_text(value: Any) -> str:
    """Return a value as readers see it."""
    return f"{value:g}" if isinstance(value, float) else str(value)
