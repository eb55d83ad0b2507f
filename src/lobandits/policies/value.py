"""What policies have in common as values: equal, hashable, printable and storable by field."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from lobandits._checks import one_of
from lobandits.errors import LobInputError

V = TypeVar("V", bound="Value")


class Value:
    """Base of frozen dataclasses whose fields may be numbers, names, arrays or orders.

    Two values are the same if their types and the fields of their constructors are.
    What is derived from the fields (``field(init=False)``, cached properties) does not count.
    """

    name: ClassVar[str]

    def _items(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):  # type: ignore[arg-type]
            if field.init:
                yield field.name, getattr(self, field.name)

    def _fix(self, **values: Any) -> None:
        """Set fields of a frozen value while it is being made."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(
            _key(mine) == _key(theirs)
            for (_, mine), (_, theirs) in zip(self._items(), other._items(), strict=True)
        )

    def __hash__(self) -> int:
        return hash((type(self), *(_key(value) for _, value in self._items())))

    def __repr__(self) -> str:
        shown = {field.name for field in fields(self) if field.repr}  # type: ignore[arg-type]
        inside = (f"{name}={_short(value)}" for name, value in self._items() if name in shown)
        return f"{type(self).__name__}({', '.join(inside)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), dict(self._items()))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain numbers, strings, lists and dicts, with the policy's name.

        See Also
        --------
        lobandits.policies.policy_from_dict : The way back.
        """
        return {"policy": self.name} | {name: _plain(value) for name, value in self._items()}

    @classmethod
    def from_dict(cls: type[V], data: Mapping[str, Any]) -> V:
        """Return the value that `to_dict` described.

        Raises
        ------
        LobInputError
            If a field is missing, unknown, or refused by the policy.
        """
        known = {field.name: field for field in fields(cls) if field.init}  # type: ignore[arg-type]
        given = {name: value for name, value in data.items() if name != "policy"}
        for name in given:
            one_of(f"field of {cls.name}", name, list(known))
        missing = [name for name in known if name not in given]
        if missing:
            raise LobInputError(f"{cls.name} lacks the field {missing[0]!r}")
        decoders = {name: f.metadata["decode"] for name, f in known.items() if f.metadata}
        return cls(**{n: decoders[n](v) if n in decoders else v for n, v in given.items()})


def _rebuild(cls: type[V], values: dict[str, Any]) -> V:
    return cls(**values)


def _key(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return value


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))}>"
    return repr(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return list(value)
    return value.to_dict() if hasattr(value, "to_dict") else value
