"""Downloading a MovieLens edition: goes on where it stopped, has its name once it is checked."""

import hashlib
import http.client
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import Request, urlopen

from lobandits._checks import one_of
from lobandits.errors import LobError, LobInputError

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
PIECE = 1 << 18
ATTEMPTS = 4  # how often in a row a connection may break without one more byte
TIMEOUT = 30.0
Follow = Callable[[int, int | None], None]  # the bytes so far, and in total if the server says


class Edition(NamedTuple):
    """A file to download, and what is in it."""

    file: str
    content: str
    size: str


EDITIONS = {
    f"movielens-{short}": Edition(f"ml-{short}.zip", content, size)
    for short, content, size in (
        ("100k", "100,000 ratings", "5 MB"),
        ("1m", "1 million ratings", "6 MB"),
        ("10m", "10 million ratings", "63 MB"),
        ("20m", "20 million ratings, as in the paper", "190 MB"),
        ("25m", "25 million ratings", "250 MB"),
        ("32m", "32 million ratings", "239 MB"),
        ("latest", "33 million ratings, changes over time", "335 MB"),
        ("latest-small", "100,000 ratings, changes over time", "1 MB"),
    )
}


def edition(name: str) -> Edition:
    """Return the edition of that name; "20m" and "ml-20m" are short for "movielens-20m"."""
    short = str(name).lower().removeprefix("movielens-").removeprefix("ml-")
    known = f"movielens-{short}"
    return EDITIONS[known if known in EDITIONS else one_of("data", name, tuple(EDITIONS))]


def default_folder() -> Path:
    """Return where downloads are kept: the user's cache folder."""
    given = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(given or "~/.cache").expanduser() / "lobandits"


class Broken(Exception):  # noqa: N818
    """The connection broke while bytes came."""


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
    url = url or os.environ.get("LOB_MOVIELENS_URL") or ADDRESS
    if urlsplit(url).scheme not in ("http", "https"):
        raise LobInputError(f"url must start with http:// or https://, got {url!r}")
    address = urljoin(url if url.endswith("/") else f"{url}/", target.name)
    part = target.with_name(target.name + ".part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _transfer(address, part, follow)
        _check(part, target, address)
        part.replace(target)
        _tag_of(part).unlink(missing_ok=True)
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
        kept = _size(part) / 1e6
        raise KeyboardInterrupt(f"{kept:.1f} MB are kept; start again to go on") from None
    return target


def _tag_of(part: Path) -> Path:
    """Return the file that remembers which version of the server's file the part is of."""
    return part.with_name(part.name + ".tag")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _transfer(address: str, part: Path, follow: Follow) -> None:
    """Complete ``part``, the first bytes of the file at ``address``."""
    in_vain = 0
    while True:
        before = _size(part)
        try:
            if _fetch_rest(address, part, follow):
                return
            reason = f"only {_size(part):,} bytes came"
        except Broken as error:
            reason = str(error)
        in_vain = 0 if _size(part) > before else in_vain + 1
        if in_vain == ATTEMPTS:
            raise Broken(reason)


def _fetch_rest(address: str, part: Path, follow: Follow) -> bool:
    """Ask once for what is lacking; return whether the file is complete."""
    have, tag = _size(part), _tag_of(part)
    request = Request(address)
    if have:
        request.add_header("Range", f"bytes={have}-")
        if tag.exists() and (same := tag.read_text(encoding="latin-1")):
            request.add_header("If-Range", same)
    try:
        response = _open(request)
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
        part.unlink()
        _tag_of(part).unlink(missing_ok=True)
        raise LobError(f"{target.name} arrived damaged: {wrong}. It was deleted; start again")


def _published_sum(address: str) -> str | None:
    """Return the MD5 sum in the file at ``address``; None if there is no such file."""
    try:
        with _open(Request(address)) as response:
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
