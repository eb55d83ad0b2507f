"""Downloading a MovieLens edition: it has its name once it is checked."""

import hashlib
import os
import re
import zipfile
import zlib
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urljoin, urlsplit

from lobandits.errors import LobError, LobInputError
from lobandits.learning.movielens.editions import edition
from lobandits.learning.movielens.transfer import (
    Broken,
    Follow,
    discard,
    finish,
    read_text,
    size,
    transfer,
)

ADDRESS = "https://files.grouplens.org/datasets/movielens/"


def default_folder() -> Path:
    """Return where downloads are kept: the user's cache folder."""
    given = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(given or "~/.cache").expanduser() / "lobandits"


def download_movielens(
    name: str,
    folder: str | Path | None = None,
    url: str | None = None,
    follow: Follow = lambda done, total: None,
) -> Path:
    """Return the zip of an edition, downloaded if it is not yet in the folder.

    An interrupted download leaves a file that ends in .part, and the next one goes on from there
    if the server can. The zip gets its name only after its MD5 sum was checked, or where the
    server has none the zip's own checksums.
    """
    target = (default_folder() if folder is None else Path(folder)) / edition(name).file
    if target.is_file():
        return target
    address = _address(url or os.environ.get("LOB_MOVIELENS_URL") or ADDRESS, target.name)
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        transfer(address, part, follow)
        _check(part, target, address)
        finish(part, target)
    except (URLError, Broken) as error:
        reason = error.reason if type(error) is URLError else error
        raise LobError(
            f"cannot download {address}: {reason}. Start again later, it goes on where it "
            f"stopped; or download that file by hand, on any machine, and put it at {target} (or "
            "anywhere: load_movielens takes the path)"
        ) from None
    except OSError as error:
        raise LobError(f"cannot write {target}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        kept = size(part) / 1e6
        raise KeyboardInterrupt(f"{kept:.1f} MB are kept; start again to go on") from None
    return target


def _address(url: str, file: str) -> str:
    """Return where a file is in the folder ``url``."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise LobInputError(f"url must start with http:// or https://, got {url!r}")
    return urljoin(url if url.endswith("/") else f"{url}/", file)


def _check(part: Path, target: Path, address: str) -> None:
    """Refuse, and delete, a file that is not what the server says, or is no whole zip."""
    published = _published_sum(f"{address}.md5")
    if published is None:
        wrong = _damage(part)
    else:
        with part.open("rb") as file:
            found = hashlib.file_digest(file, "md5").hexdigest()
        wrong = f"its MD5 sum is {found}, not {published}" if found != published else None
    if wrong is not None:
        discard(part)
        raise LobError(f"{target.name} arrived damaged: {wrong}. It was deleted; start again")


def _published_sum(address: str) -> str | None:
    """Return the MD5 sum in the file at ``address``; None if there is no such file."""
    found = re.search(r"\b[0-9a-f]{32}\b", (read_text(address) or "").lower())
    return None if found is None else found[0]


def _damage(path: Path) -> str | None:
    """Return what is wrong with a zip, by its own checksums."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return f"it is no whole zip ({error})"
    return None if bad is None else f"{bad} in it has a wrong checksum"
