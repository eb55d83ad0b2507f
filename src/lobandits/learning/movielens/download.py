"""Downloading an edition: goes on where it stopped, and is checked before it has its name."""

import hashlib
import re
import zipfile
import zlib
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request

from lobandits.errors import LobError, LobInputError
from lobandits.learning.movielens.editions import default_address, default_folder, edition
from lobandits.learning.movielens.transfer import Broken, Follow, open_address, tag_of, transfer


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

    Parameters
    ----------
    name
        Such as "movielens-20m".
    folder
        Where the zip is kept; by default ``lobandits`` in the user's cache folder.
    url
        Address of the folder that has the zips; by default that of GroupLens, or the environment
        variable LOB_MOVIELENS_URL.
    follow
        Called with the bytes so far and in total (None if unknown).
    """
    target = (default_folder() if folder is None else Path(folder)) / edition(name).file
    if target.is_file():
        return target
    address = urljoin(_checked_address(url or default_address()), target.name)
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        transfer(address, part, follow)
        _check(part, target, address)
        part.replace(target)
        tag_of(part).unlink(missing_ok=True)
    except (URLError, Broken) as error:
        raise LobError(_advice(address, target, error)) from None
    except OSError as error:
        raise LobError(f"cannot write {target}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        kept = part.stat().st_size / 1e6 if part.exists() else 0.0
        raise KeyboardInterrupt(f"{kept:.1f} MB are kept; start again to go on") from None
    return target


def _checked_address(url: str) -> str:
    if urlsplit(url).scheme not in ("http", "https"):
        raise LobInputError(f"url must start with http:// or https://, got {url!r}")
    return url if url.endswith("/") else f"{url}/"


def _advice(address: str, target: Path, error: URLError | Broken) -> str:
    """Return what to do without a network."""
    reason = str(error) if isinstance(error, HTTPError | Broken) else str(error.reason)
    return (
        f"cannot download {address}: {reason}. Start again later, it goes on where it stopped; or "
        f"download that file by hand, on any machine, and put it at {target} (or anywhere: "
        "load_movielens takes the path)"
    )


def _check(part: Path, target: Path, address: str) -> None:
    """Refuse, and delete, a file that is not what the server says, or is no whole zip."""
    published = _published_sum(f"{address}.md5")
    with part.open("rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if published is None:
        wrong = _damage(part)
    else:
        wrong = f"its MD5 sum is {found}, not {published}" if found != published else None
    if wrong is not None:
        part.unlink()
        tag_of(part).unlink(missing_ok=True)
        raise LobError(f"{target.name} arrived damaged: {wrong}. It was deleted; start again")


def _published_sum(address: str) -> str | None:
    """Return the MD5 sum in the file at ``address``; None if there is no such file."""
    try:
        with open_address(Request(address)) as response:
            text = response.read(4096).decode("latin-1")
    except HTTPError:
        return None
    found = re.search(r"\b[0-9a-f]{32}\b", text.lower())
    return None if found is None else found[0]


def _damage(path: Path) -> str | None:
    """Return what is wrong with a zip, by its own checksums."""
    try:
        with zipfile.ZipFile(path) as archive:
            bad = archive.testzip()
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        return f"it is no whole zip ({error})"
    return None if bad is None else f"{bad} in it has a wrong checksum"
