"""What commands share: errors in one line, options, files that are checked before the work."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer

from lobandits.errors import LobError, LobInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

P = ParamSpec("P")

WRONG, INTERRUPTED = 2, 130
PICTURES = (".png", ".pdf", ".svg")

Seed = Annotated[int, typer.Option(help="Names all random numbers.")]
Workers = Annotated[int | None, typer.Option(help="Threads; by default one for each processor.")]
ShowBar = Annotated[bool, typer.Option(help="Show a progress bar, if there is a terminal.")]


def friendly(command: Callable[P, None]) -> Callable[P, None]:
    """Make ``command`` end on a known error with one line on standard error, and exit code 2."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except LobError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(WRONG) from None
        except KeyboardInterrupt as interrupt:
            typer.echo(f"interrupted{': ' if str(interrupt) else ''}{interrupt}", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


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
