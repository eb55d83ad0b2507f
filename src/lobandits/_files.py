"""Files: a reader sees the old or the new one, never a half."""

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from lobandits.errors import LobInputError


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the content of a JSON file, or say why it cannot be read."""
    try:
        return json.loads(Path(path).read_bytes())
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise LobInputError(f"{path} is corrupt or truncated, no valid JSON: {error}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as `write_file` does."""
    write_file(path, lambda file: file.write(text.encode()))


def write_file(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Write as `write_atomic` does, or say why the file cannot be written."""
    try:
        return write_atomic(path, write)
    except OSError as error:
        raise LobInputError(f"cannot write {path}: {error.strerror or error}") from error


def write_atomic(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Call ``write`` on a temporary file beside ``path``, then rename it to ``path``.

    A link is followed: the file that it names is replaced, not the link.
    """
    target = Path(path)
    place = target.resolve()
    temporary = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target
