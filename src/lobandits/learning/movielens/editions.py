"""The editions that GroupLens publishes, and where they are kept."""

import os
from pathlib import Path
from typing import NamedTuple

from lobandits._checks import one_of

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
ADDRESS_VARIABLE = "LOB_MOVIELENS_URL"


class Edition(NamedTuple):
    """A file to download, and what is in it."""

    file: str
    content: str
    size: str


EDITIONS = {
    "movielens-100k": Edition("ml-100k.zip", "100,000 ratings", "5 MB"),
    "movielens-1m": Edition("ml-1m.zip", "1 million ratings", "6 MB"),
    "movielens-10m": Edition("ml-10m.zip", "10 million ratings", "63 MB"),
    "movielens-20m": Edition("ml-20m.zip", "20 million ratings, as in the paper", "190 MB"),
    "movielens-25m": Edition("ml-25m.zip", "25 million ratings", "250 MB"),
    "movielens-32m": Edition("ml-32m.zip", "32 million ratings", "239 MB"),
    "movielens-latest": Edition("ml-latest.zip", "33 million ratings, changes over time", "335 MB"),
    "movielens-latest-small": Edition(
        "ml-latest-small.zip", "100,000 ratings, changes over time", "1 MB"
    ),
}


def edition(name: str) -> Edition:
    """Return the edition of that name; "20m" and "ml-20m" are short for "movielens-20m"."""
    short = str(name).lower().removeprefix("movielens-").removeprefix("ml-")
    known = f"movielens-{short}"
    return EDITIONS[known if known in EDITIONS else one_of("data", name, tuple(EDITIONS))]


def default_address() -> str:
    """Return where editions are downloaded from: GroupLens, or what the environment says."""
    return os.environ.get(ADDRESS_VARIABLE) or ADDRESS


def default_folder() -> Path:
    """Return where downloads are kept: the user's cache folder."""
    given = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(given or "~/.cache").expanduser() / "lobandits"
