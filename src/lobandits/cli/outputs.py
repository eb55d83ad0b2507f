"""The files that commands write."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")


def checked_suffix(option: str, path: Path | None, known: tuple[str, ...] = PICTURES) -> None:
    """Refuse, before any work is done, a file that could not be written after it."""
    if path is None:
        return
    if path.suffix.lower() not in known:
        raise LobInputError(f"{option} must end in {' or '.join(known)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise LobInputError(f"{option}: the folder {str(path.parent)!r} does not exist")
    if path.is_dir():
        raise LobInputError(f"{option}: {str(path)!r} is a folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise LobInputError(f"{option}: no permission to write {str(path)!r}")


def save_picture(figure: "Figure", path: Path) -> Path:
    """Write ``figure`` to ``path``; the suffix says how."""
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise LobInputError(f"cannot write {path}: {error.strerror or error}") from error
    return path
