"""What the commands of ``lob`` share: errors in one line, options, texts that are checked.

Commands import what they need when they run, so that ``lob --help`` answers at once.
"""

import os
import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ParamSpec

import typer

from lobandits.errors import LobError, LobInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from lobandits._checks import FloatArray

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


def parse_means(text: str, arms: tuple[str, ...]) -> list[float]:
    """Return the means of the arms, in order or by name, that stand in ``--means``."""
    from lobandits.orders.arms import arm_index

    parts = [part.strip() for part in text.split(",")]
    if "=" not in text:
        return [_number(part) for part in parts]
    named: dict[int, float] = {}
    for part in parts:
        name, sign, value = part.rpartition("=")
        if not sign:
            raise LobInputError(f"--means names some arms but not {part!r}; write name=value")
        arm = arm_index(arms, name.strip())
        if arm in named:
            raise LobInputError(f"--means gives arm {arms[arm]!r} twice")
        named[arm] = _number(value)
    left = [name for arm, name in enumerate(arms) if arm not in named]
    if left:
        raise LobInputError(f"--means leaves out: {', '.join(left)}")
    return [named[arm] for arm in range(len(arms))]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise LobInputError(f"--means holds {text!r}, which is no number") from None


def read_table(path: Path) -> "FloatArray":
    """Return the numbers in a JSON or CSV file."""
    import numpy as np

    from lobandits._checks import finite_array
    from lobandits._files import read_json

    if path.suffix.lower() == ".json":
        return finite_array(str(path), read_json(path), ndim=2)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows = [[float(cell) for cell in line.split(",")] for line in lines if line.strip()]
        return finite_array(str(path), np.array(rows), ndim=2)
    except OSError as error:
        raise LobInputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise LobInputError(f"{path} is no table of numbers: {error}") from None


def policy_names(text: str) -> list[str]:
    """Return the policies named in ``text``, separated by commas; "all" means each one."""
    from lobandits.policies import POLICIES

    # commas inside brackets belong to a policy's options
    names = [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    return list(POLICIES) if names == ["all"] else names


def parse_pair(option: str, text: str | None) -> tuple[float, float] | None:
    """Return the two numbers in ``text``, separated by a comma."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise LobInputError(f"{option} must be LOW,HIGH, for example 0.5,2; got {text!r}") from None
    return low, high


def main() -> None:
    """Run the command line."""
    from lobandits.cli.__main__ import app

    app()
