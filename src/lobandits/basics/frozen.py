"""Frozen: values that never change, equal and hashed by what they are made of.

A value is a frozen dataclass. Its *defining* fields are those of its constructor; others
(``field(init=False)``) follow from them, and so do caches (`functools.cached_property`). ::

    @dataclass(frozen=True)
    class Scaled(Frozen):
        values: FloatArray
        largest: float = field(init=False)

        def __post_init__(self) -> None:
            self._set(values=finite_array("values", self.values), largest=...)

Where no field is an array and nothing is written down, a plain frozen dataclass does as well.
"""

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from lobandits.basics.checks import one_of, read_only
from lobandits.errors import LobInputError


@dataclass(frozen=True, eq=False, repr=False)
class Frozen:
    """Base of frozen dataclasses whose fields may be arrays, or named tuples of arrays."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let a class have what it inherits, so that ``dataclass`` does not write its own."""
        super().__init_subclass__(**options)
        for name in ("__eq__", "__hash__", "__repr__"):
            if name not in vars(cls):
                setattr(cls, name, getattr(cls, name))

    @classmethod
    def _of(cls, **values: Any) -> Self:
        """Return the value of fields that are already checked."""
        made = object.__new__(cls)
        made._set(**values)
        return made

    def _set(self, **values: Any) -> None:
        """Set fields while the value is being made; of arrays that others could write, copies."""
        for name, value in values.items():
            object.__setattr__(self, name, _fixed(value))

    def _with(self, **changes: Any) -> Self:
        """Return the same value but for some defining fields, checked anew."""
        return type(self)(**self._items() | changes)

    @classmethod
    def _fields(cls) -> dict[str, Field[Any]]:
        """Return the defining fields by name."""
        return {of.name: of for of in fields(cls) if of.init}

    def _items(self) -> dict[str, Any]:
        """Return the values of the defining fields by name."""
        return {name: getattr(self, name) for name in self._fields()}

    def _plain(self) -> dict[str, Any]:
        """Return the defining fields as plain data, for JSON; `_decoded` is the way back.

        Those with ``metadata={"rare": True}`` are written down, and shown, only where given.
        """
        return {name: _plain(getattr(self, name)) for name in self._given()}

    def _given(self) -> list[str]:
        """Return the names of the defining fields; of rare ones last, and only if not default."""
        rare = {n: of for n, of in self._fields().items() if "rare" in of.metadata}
        given = [n for n, of in rare.items() if getattr(self, n) != of.default]
        return [n for n in self._fields() if n not in rare] + given

    @classmethod
    def _decoded(cls, data: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """Return the defining fields that `_plain` described, or name the one that is wrong.

        What the constructor cannot take as plain data has ``metadata={"decode": function}``;
        ``kind`` names the value in messages.
        """
        known = cls._fields()
        for name in data:
            one_of(f"field of {kind}", name, list(known))
        for name, of in known.items():
            if name not in data and "rare" not in of.metadata:
                raise LobInputError(f"{kind} lacks the field {name!r}")
        return {
            name: of.metadata.get("decode", _same)(data[name])
            for name, of in known.items()
            if name in data
        }

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        mine, others = self._items().values(), other._items().values()
        return all(a is b or _content(a) == _content(b) for a, b in zip(mine, others, strict=True))

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((type(self), *map(_content, self._items().values())))

    def __repr__(self) -> str:
        known = self._fields()
        shown = (name for name in self._given() if known[name].repr)
        inside = (f"{name}={_short(getattr(self, name))}" for name in shown)
        return f"{type(self).__name__}({', '.join(inside)})"

    def __getstate__(self) -> dict[str, Any]:
        return {of.name: getattr(self, of.name) for of in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)


def _fixed(value: Any) -> Any:
    """Return an array, or a named tuple of arrays, that nobody can write; others as they are."""
    if isinstance(value, np.ndarray):
        return read_only(value.copy() if value.flags.writeable else value)
    return value._make(map(_fixed, value)) if hasattr(value, "_make") else value


def _content(value: Any) -> Any:
    """Return what two equal fields have in common: of arrays their type, shape and bits.

    Of arrays of Python objects, the objects: their bits are addresses.
    """
    if isinstance(value, np.ndarray):
        inside = tuple(value.flat) if value.dtype.hasobject else value.tobytes()
        return value.dtype.str, value.shape, inside
    return tuple(map(_content, value)) if isinstance(value, tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value._plain() if isinstance(value, Frozen) else value


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))}>"
    return repr(value)


def _same(value: Any) -> Any:
    return value
