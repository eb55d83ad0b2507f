"""Downloading a MovieLens edition: it goes on where it stopped, and is checked before it counts."""

import hashlib
import http.client
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

from lobandits.errors import LobError, LobInputError
from lobandits.paper.movielens.editions import edition

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
PIECE = 1 << 18
ATTEMPTS = 4  # how often in a row a connection may break without one more byte
TIMEOUT = 30.0
Follow = Callable[[int, int | None], None]  # the bytes so far, and in total if the server says


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


class Broken(Exception):  # noqa: N818
    """The connection broke while bytes came."""


def transfer(address: str, part: Path, follow: Follow) -> None:
    """Complete ``part``, the first bytes of the file at ``address``."""
    in_vain = 0
    while True:
        before = size(part)
        try:
            if _fetch_rest(address, part, follow):
                return
            reason = f"only {size(part):,} bytes came"
        except Broken as error:
            reason = str(error)
        in_vain = 0 if size(part) > before else in_vain + 1
        if in_vain == ATTEMPTS:
            raise Broken(reason)


def _fetch_rest(address: str, part: Path, follow: Follow) -> bool:
    """Ask once for what is lacking; return whether the file is complete."""
    have, tag = size(part), _tag_of(part)
    try:
        response = _open(_request(address, have, tag))
    except HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        if error.headers.get("Content-Range") == f"bytes */{have}":
            return True
        part.unlink()  # longer than the file
        return False
    with response:
        kept = _kept(response, have)
        length = response.headers.get("Content-Length")
        total = None if length is None else kept + int(length)
        version = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        tag.write_text("" if version.startswith("W/") else version, encoding="latin-1")
        done = _append(response, part, kept, total, follow)
    return total is None or done == total


def _request(address: str, have: int, tag: Path) -> Request:
    """Ask for the bytes after the first ``have``, if the file is the one of which these are."""
    request = Request(address)
    if have:
        request.add_header("Range", f"bytes={have}-")
        if tag.exists() and (same := tag.read_text(encoding="latin-1")):
            request.add_header("If-Range", same)
    return request


def _kept(response: Any, have: int) -> int:
    """Return how many of the bytes that we have the answer goes on from: all or none."""
    if response.status != http.client.PARTIAL_CONTENT:
        return 0
    if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        raise Broken("the server sent other bytes than it was asked for")
    return have


def _append(response: Any, part: Path, kept: int, total: int | None, follow: Follow) -> int:
    """Write the bytes that come after the first ``kept``; return how many there are then."""
    done = kept
    with part.open("r+b" if kept else "wb") as file:
        file.seek(kept)
        while piece := _unbroken(response.read, PIECE):
            file.write(piece)
            done += len(piece)
            follow(done, total)
    return done


def _tag_of(part: Path) -> Path:
    """Return the file that remembers which version of the server's file the part is of."""
    return part.with_name(part.name + ".tag")


def finish(part: Path, target: Path) -> None:
    """Give a complete part its name."""
    part.replace(target)
    _tag_of(part).unlink(missing_ok=True)


def discard(part: Path) -> None:
    """Delete a part."""
    part.unlink()
    _tag_of(part).unlink(missing_ok=True)


def size(path: Path) -> int:
    """Return the number of bytes of a file, 0 if there is none."""
    return path.stat().st_size if path.exists() else 0


def read_text(address: str) -> str | None:
    """Return the first 4,096 characters at ``address``; None if the server has no such file."""
    try:
        with _open(Request(address)) as response:
            return str(response.read(4096).decode("latin-1"))
    except HTTPError:
        return None


def _open(request: Request) -> Any:
    """Return the server's answer; no connection is an URLError, a lost one is Broken."""
    request.add_header("User-Agent", "lobandits")
    try:
        return _unbroken(urlopen, request, timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        raise


def _unbroken(call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    try:
        return call(*args, **options)
    except URLError:
        raise
    except (OSError, http.client.HTTPException) as error:
        raise Broken(str(error) or type(error).__name__) from error
