"""Options that several commands share, and the files that these name."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lobandits.cli.friendly import BROUGHT_BY, needs_extra
from lobandits.errors import LobError, LobInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Seed = Annotated[int, typer.Option(help="Names all random numbers.")]
Workers = Annotated[int | None, typer.Option(help="Threads; by default one for each processor.")]
ShowBar = Annotated[bool, typer.Option(help="Show a progress bar, if there is a terminal.")]
UserColumn = Annotated[str, typer.Option("--user", help="The column of users.")]
ArmColumn = Annotated[str, typer.Option("--arm", help="The column of arms.")]
RewardColumn = Annotated[str, typer.Option("--reward", help="The column of rewards.")]
LogFiles = Annotated[
    list[str] | None,
    typer.Argument(help="CSV or Parquet files, a folder or a glob of them; a row is a reward."),
]
SkipEmpty = Annotated[
    bool, typer.Option("--skip-empty", help="Skip and count rows without a reward.")
]
MinUserRewards = Annotated[int, typer.Option(help="Drop users with fewer rewards, after the arms.")]
MinArmRewards = Annotated[int, typer.Option(help="Drop arms with fewer rewards, before the users.")]
LikelihoodName = Annotated[
    str | None,
    typer.Option(
        help="How rewards come: gaussian, bernoulli (0 or 1) or poisson (counts).",
        show_default="bernoulli where all rewards are 0 or 1, else gaussian",
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Columns known of users before the first reward, such as age,country.",
    ),
]
UsersTable = Annotated[
    Path | None,
    typer.Option(
        "--users", help="Where the features are, unless in the logs: a file, a row for each user."
    ),
]
PICTURES = (".png", ".pdf", ".svg")
NEEDED = BROUGHT_BY["service"]

Store = Annotated[
    str,
    typer.Option(envvar="LOB_STORE", help="sqlite:///FILE or postgresql://USER@HOST/DATABASE."),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        help="The policy, options in brackets: ts(prior_std=10); by default lobbayes of a model, "
        "lobts of orders."
    ),
]
Sigma = Annotated[
    float | None,
    typer.Option(help="Standard deviation of the rewards; by default the model's, or 1.0."),
]
HalfLife = Annotated[
    str | None,
    typer.Option(
        help="Rewards count half after a time such as 30d or 12h, for users who have changed; by "
        "default nothing is forgotten."
    ),
]
ModelFile = Annotated[Path | None, typer.Option(help="A model that lob learn wrote: JSON.")]
OrdersFile = Annotated[
    Path | None, typer.Option(help="The states' orders, where there is no model: JSON.")
]
Problem = Annotated[str, typer.Option(help="One of several problems in one store.")]
DEFAULT_PROBLEM = "default"
LOCAL = "sqlite:///lob.db"


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


def need_service() -> None:
    """Refuse without the extra that the service needs."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise LobError(needs_extra("service", missing[0]))


def parse_states(text: str) -> int | None:
    """Return the number of states in ``--states``, or None for auto."""
    if text == "auto":
        return None
    if not text.isdecimal():
        raise LobInputError(f"--states must be auto or a number of states, got {text!r}")
    return int(text)


def parse_features(text: str | None) -> list[str] | None:
    """Return the names in ``--features``."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def parse_values(text: str | None) -> dict[str, str] | None:
    """Return what ``--features price=9,kind=drama`` says."""
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if not pairs or not all(name.strip() and between for name, between, _ in pairs):
        raise LobInputError(f"--features must be like price=9,kind=drama, got {text!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def existing(store: str) -> str:
    """Return a store's URL, or refuse a file that is not there: opening it would create it."""
    path = store.removeprefix("sqlite:///").partition("?")[0]
    if store.startswith("sqlite:///") and not Path(path).exists():
        raise LobInputError(f"there is no store at {path}; lob serve creates one")
    return store
