"""Results as NumPy's npz: the header, and each array under its name."""

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from lobandits.errors import LobInputError

Arrays = Mapping[str, NDArray[Any]]


def write(file: IO[bytes], header: str, arrays: Arrays, settings: Mapping[str, Any]) -> None:
    """Write the header and the arrays."""
    entries: dict[str, Any] = {"header": np.array(header), **arrays}
    np.savez_compressed(file, **entries)


def read_header(path: Path) -> str:
    """Return the header."""
    with _opened(path) as data:
        return str(data["header"])


def read_arrays(path: Path, settings: Mapping[str, Any]) -> Arrays:
    """Return the arrays."""
    with _opened(path) as data:
        return {name: data[name] for name in data.files}


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise LobInputError("corrupt or truncated, no npz file")
        file.seek(0)
        with np.load(file, allow_pickle=False) as data:
            yield data
