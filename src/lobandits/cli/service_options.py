"""What the commands of the service share: their options, and what they need."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from lobandits.errors import LobError, LobInputError

NEEDED = ("fastapi", "uvicorn", "httpx", "sqlalchemy", "psycopg", "prometheus_client")

Store = Annotated[
    str, typer.Option(help="sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE.")
]
PolicyName = Annotated[str, typer.Option(help="The policy, options in brackets: ts(prior_std=10).")]
Sigma = Annotated[
    float | None,
    typer.Option(help="Standard deviation of the rewards; by default the file's, or 1.0."),
]
Problem = Annotated[str, typer.Option(help="One of several problems in one store.")]
DEFAULT_PROBLEM = "default"
LOCAL = "sqlite:///lob.db"


def need_service() -> None:
    """Refuse without the extra that the service needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise LobError(
            f"this command needs the extra 'service' ({missing[0]} is not installed): "
            "pip install 'lobandits[service]'"
        )


def existing(store: str) -> str:
    """Return a store's URL, or refuse a file that is not there: opening it would create it."""
    path = store.removeprefix("sqlite:///").partition("?")[0]
    if store.startswith("sqlite:///") and not Path(path).exists():
        raise LobInputError(f"there is no store at {path}; lob serve creates one")
    return store
