"""The one decorator behind every compiled kernel."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, without the interpreter lock, cached on disk.

    Where no cache folder can be written the kernel still compiles, once per process.
    """
    try:
        compiled: Callable[P, R] = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # Numba found no folder that it may write to
        compiled = njit(nogil=True, error_model="numpy")(function)
    return compiled
