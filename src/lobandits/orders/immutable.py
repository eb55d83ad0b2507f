"""What makes a value immutable: attributes that cannot be set, arrays that cannot be written."""

from typing import Any, NoReturn, TypeVar

import numpy as np

A = TypeVar("A", bound=np.generic)


class Immutable:
    """Base of values: fields are set once, by ``_fill``; caches live beside them."""

    def _fill(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable: cannot delete {name!r}")


def read_only(array: "np.ndarray[Any, np.dtype[A]]") -> "np.ndarray[Any, np.dtype[A]]":
    """Return ``array``, C-contiguous, with writing switched off."""
    fixed = np.ascontiguousarray(array)
    fixed.setflags(write=False)
    return fixed
