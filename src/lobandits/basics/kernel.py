"""The one decorator behind every compiled kernel."""

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numba import config, njit
from numba.core import event

from lobandits.basics.sources import PACKAGE

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound=np.generic)
logger = logging.getLogger(__name__)  # on standard error, unless a program says otherwise


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile ``function`` on first use, without the interpreter lock, cached on disk if it can.

    A cached kernel contains those that it calls, and Numba does not notice edits in another file:
    so the folder of the cache is named after the text of all files with kernels.
    """
    folder = config.CACHE_DIR
    root = Path(folder) if folder else PACKAGE / "__pycache__"
    config.CACHE_DIR = str(root / f"kernels-{_digest()}")
    compiled: Any
    try:
        compiled = njit(cache=True, nogil=True, error_model="numpy")(function)
        if compiled is not function:  # it is where Numba is switched off
            compiled._cache = _Forgiving(compiled._cache)
    except RuntimeError:  # Numba has no folder that it may write to
        compiled = njit(nogil=True, error_model="numpy")(function)
    finally:
        config.CACHE_DIR = folder
    kernel: Callable[P, R] = compiled
    return kernel


def writable(array: np.ndarray[Any, np.dtype[A]]) -> np.ndarray[Any, np.dtype[A]]:
    """Return the array, or a copy if it is read-only or not C-contiguous.

    Kernels are compiled for each kind of array that they are handed: so they are handed one kind.
    """
    return np.require(array, requirements=("C", "W"))


@cache
def _digest() -> str:
    """Return a hash of all files of the package that have kernels."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_bytes()
        if b"@kernel" in text:
            digest.update(str(path.relative_to(PACKAGE)).encode() + text)
    return digest.hexdigest()[:16]


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


class _Notice(event.Listener):  # type: ignore[misc]
    """Say, once, that kernels are being compiled: else the first minute is silent."""

    said = False

    def on_start(self, of: Any) -> None:
        if not self.said and of.data["dispatcher"].__module__.startswith("lobandits."):
            self.said = True
            logger.warning("lobandits: compiling its kernels, once on this machine ...")

    def on_end(self, of: Any) -> None:
        """Say nothing more."""


event.register("numba:compile", _Notice())
