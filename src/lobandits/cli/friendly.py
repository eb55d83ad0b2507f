"""Errors in one line, instead of a traceback."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

from lobandits.errors import LobError

P = ParamSpec("P")
WRONG, INTERRUPTED = 2, 130
BROUGHT_BY = {
    "learn": ("scipy", "matplotlib", "ibis", "duckdb", "pyarrow"),
    "paper": ("pooch", "requests"),
    "service": ("fastapi", "uvicorn", "httpx", "sqlalchemy", "psycopg", "prometheus_client"),
}
"""The modules that an extra brings."""


def friendly(command: Callable[P, None]) -> Callable[P, None]:
    """Make ``command`` end on a known error with one line on standard error, and exit code 2."""

    @wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except LobError as error:
            typer.echo(f"error: {error}", err=True)
            raise typer.Exit(WRONG) from None
        except ModuleNotFoundError as error:
            extra = extra_of(error.name)
            if extra is None:
                raise
            typer.echo(f"error: {needs_extra(extra, str(error.name))}", err=True)
            raise typer.Exit(WRONG) from None
        except KeyboardInterrupt as interrupt:
            typer.echo(f"interrupted{': ' if str(interrupt) else ''}{interrupt}", err=True)
            raise typer.Exit(INTERRUPTED) from None

    return wrapped


def extra_of(module: str | None) -> str | None:
    """Return the extra that brings a module, if one does."""
    top = (module or "").partition(".")[0]
    return next((extra for extra, names in BROUGHT_BY.items() if top in names), None)


def needs_extra(extra: str, module: str) -> str:
    """Return what to do about a module that is not installed."""
    return (
        f"this command needs the extra {extra!r} ({module} is not installed): "
        f"pip install '.[{extra}]' in the folder of lobandits"
    )
