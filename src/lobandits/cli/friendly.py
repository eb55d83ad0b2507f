"""Errors in one line, instead of a traceback."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from lobandits.errors import LobError

P = ParamSpec("P")
WRONG, INTERRUPTED = 2, 130


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
