"""Getting a file over HTTP in parts: what has come stays, and the rest is asked for."""

import http.client
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

PIECE = 1 << 18
ATTEMPTS = 4
"""How often in a row a connection may break without one more byte before it is given up."""
TIMEOUT = 30.0
Follow = Callable[[int, int | None], None]
"""Is told the bytes so far, and in total (None if the server does not say)."""


class Broken(Exception):  # noqa: N818
    """The connection broke while bytes came."""


def transfer(address: str, part: Path, follow: Follow) -> None:
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


def tag_of(part: Path) -> Path:
    """Return the file that remembers which version of the server's file the part is of."""
    return part.with_name(part.name + ".tag")


def _fetch_rest(address: str, part: Path, follow: Follow) -> bool:
    """Ask once for what is lacking; return whether the file is complete."""
    have = _size(part)
    try:
        response = open_address(_request(address, part, have))
    except HTTPError as error:
        if error.code != http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        return _is_all(part, have, error.headers.get("Content-Range", ""))
    with response:
        kept = _kept(response, have)
        length = response.headers.get("Content-Length")
        total = None if length is None else kept + int(length)
        tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
        tag_of(part).write_text("" if tag.startswith("W/") else tag, encoding="latin-1")
        done = _append(response, part, kept, total, follow)
    return total is None or done == total


def open_address(request: Request) -> Any:
    """Return the server's answer; no connection is an URLError, a lost one is Broken."""
    request.add_header("User-Agent", "lobandits")
    try:
        return urlopen(request, timeout=TIMEOUT)
    except URLError as error:
        if isinstance(error, HTTPError):
            error.close()
        raise
    except (OSError, http.client.HTTPException) as error:
        raise Broken(str(error) or type(error).__name__) from error


def _request(address: str, part: Path, have: int) -> Request:
    """Return the request for the bytes after the first ``have``, if these are still the same."""
    request = Request(address)
    if have:
        request.add_header("Range", f"bytes={have}-")
        tag = tag_of(part)
        if tag.exists() and (text := tag.read_text(encoding="latin-1")):
            request.add_header("If-Range", text)
    return request


def _kept(response: Any, have: int) -> int:
    """Return how many of the bytes that we have the answer goes on from: all or none."""
    if response.status != http.client.PARTIAL_CONTENT:
        return 0
    if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        raise Broken("the server sent other bytes than it was asked for")
    return have


def _is_all(part: Path, have: int, content_range: str) -> bool:
    """Return whether nothing is lacking; if the part is longer than the file, drop it."""
    total = re.fullmatch(r"bytes \*/(\d+)", content_range)
    if total is not None and int(total[1]) == have:
        return True
    part.unlink()
    return False


def _append(response: Any, part: Path, kept: int, total: int | None, follow: Follow) -> int:
    """Write the bytes that come after the first ``kept``; return how many there are then."""
    done = kept
    with part.open("r+b" if kept else "wb") as file:
        file.seek(kept)
        while piece := _read(response):
            file.write(piece)
            done += len(piece)
            follow(done, total)
    return done


def _read(response: Any) -> bytes:
    try:
        return bytes(response.read(PIECE))
    except (OSError, http.client.HTTPException) as error:
        raise Broken(str(error) or type(error).__name__) from error


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
