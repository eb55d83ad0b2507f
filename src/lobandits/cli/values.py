"""What commands share: values written on a command line, and pictures in files."""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lobandits.errors import LobInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PICTURES = (".png", ".pdf", ".svg")


def policy_names(text: str) -> list[str]:
    """Return the policies named in ``text``, separated by commas; "all" means each one.

    Commas inside brackets belong to a policy's options.
    """
    from lobandits.policies import POLICIES

    names = [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    return list(POLICIES) if names == ["all"] else names


def pair(option: str, text: str | None) -> tuple[float, float] | None:
    """Return the two numbers in ``text``, separated by a comma."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise LobInputError(f"{option} must be LOW,HIGH, for example 0.5,2; got {text!r}") from None
    return low, high


def checked_suffix(option: str, path: Path, known: tuple[str, ...]) -> None:
    """Refuse, before any work is done, a file that could not be written after it."""
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
