"""The decorators behind every compiled kernel."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np
from numba import config, njit

from lobandits.basics.sources import PACKAGE, digest_with_imports

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound=np.generic)
# Numbers that kernels hand to kernels: for a literal, all that is called would be compiled again.
ZERO, ONE, NONE = (cast("int", np.int64(number)) for number in (0, 1, -1))
Plain = tuple[Any, ...]  # what `unnamed` makes of a named tuple, whose kind a kernel knows


def unnamed(value: Any) -> Any:
    """Return a named tuple, and all in it, as plain tuples.

    A kernel takes these in some 0.1 us each, named ones in 0.6; it gives the names back itself.
    """
    return tuple(map(unnamed, value)) if isinstance(value, tuple) else value


def writable(array: np.ndarray[Any, np.dtype[A]]) -> np.ndarray[Any, np.dtype[A]]:
    """Return the array, or a copy if it is read-only or not C-contiguous.

    Kernels are compiled for each kind of array that they are handed: so they are handed one kind.
    """
    return np.require(array, requirements=("C", "W"))


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, without the interpreter lock, cached on disk if it can."""
    return _compiled(function)


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`kernel`, for functions that create no array: all memory is handed in.

    They need not count references, at every call and slice: lean projections take half the time.
    """
    return _compiled(function, _nrt=False)


def part(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`lean`, into every caller: handing over many arrays takes time."""
    return _compiled(function, _nrt=False, forceinline=True)


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    folder = config.CACHE_DIR
    root = Path(folder) if folder else PACKAGE / "__pycache__"
    config.CACHE_DIR = str(root / _folder_name(function.__code__.co_filename))
    compiled: Any
    try:
        compiled = njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        if compiled is not function:  # it is where Numba is switched off
            compiled._cache = _Forgiving(compiled._cache)
    except RuntimeError:  # Numba found no folder that it may write to
        compiled = njit(nogil=True, error_model="numpy", **options)(function)
    finally:
        config.CACHE_DIR = folder
    kernel: Callable[P, R] = compiled
    return kernel


@cache
def _folder_name(source: str) -> str:
    """Return the name of the cache of one file's kernels, which changes with what it imports.

    A cached kernel contains those that it calls, and Numba does not notice edits in another file.
    """
    return f"kernels-{digest_with_imports(Path(source))}"


class _Forgiving:
    """Numba's cache of one kernel, where a full disk or a lost folder is no error."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *args: Any) -> Any:
        try:
            return self._cache.load_overload(*args)
        except OSError:
            return None

    def save_overload(self, *args: Any) -> None:
        with suppress(OSError):
            self._cache.save_overload(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)
