"""The decorators behind every compiled kernel."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, without the interpreter lock, cached on disk.

    Where no cache folder can be written the kernel still compiles, once per process.
    """
    return _compiled(function)


def lean(function: Callable[P, R]) -> Callable[P, R]:
    """Compile like :func:`kernel`, for functions that create no array: all memory is handed in.

    Such a function need not count references, which at every call and slice costs about as
    much as a small projection: lean projections take half the time.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Callable[P, R], **options: bool) -> Callable[P, R]:
    try:
        compiled: Callable[P, R] = njit(cache=True, nogil=True, error_model="numpy", **options)(
            function
        )
    except RuntimeError:  # Numba found no folder that it may write to
        compiled = njit(nogil=True, error_model="numpy", **options)(function)
    return compiled
