"""Downloading a MovieLens edition with pooch: it goes on where it stopped, and is checked."""

import os
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lobandits.errors import LobError
from lobandits.paper.movielens.editions import edition

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
PIECE_BYTES = 1 << 14  # what a broken connection may lose
RETRIES = 2
TIMEOUT_S = 30.0
Follow = Callable[[int, int | None], None]
"""Called with the bytes so far, and with all of them if the server says how many there are."""


def default_folder() -> Path:
    """Return where downloads are kept: the user's cache folder."""
    import pooch

    return Path(pooch.os_cache("lobandits"))


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
    import pooch
    from requests import RequestException

    place = url or os.environ.get("LOB_MOVIELENS_URL") or ADDRESS
    address = f"{place.rstrip('/')}/{target.name}"
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        published = _published_sum(address)
        files = pooch.create(
            target.parent,
            base_url="",
            registry={target.name: published},
            urls={target.name: address},
            retry_if_failed=RETRIES,
        )
        files.fetch(target.name, downloader=Resuming(part, published is None, follow))
    except RequestException as error:
        raise LobError(
            f"cannot download {address}: {error}. Start again later, it goes on where it "
            f"stopped; or download that file by hand, on any machine, and put it at {target} (or "
            "anywhere: load_movielens takes the path)"
        ) from None
    except ValueError as error:
        raise LobError(f"{target.name} arrived damaged: {error}. It was deleted") from None
    except OSError as error:
        raise LobError(f"cannot write {target}: {error.strerror or error}") from error
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{_size(part) / 1e6:.1f} MB are kept; start again to go on"
        ) from None
    return target


def _published_sum(address: str) -> str | None:
    """Return the MD5 sum that the server has beside a file; None if it has none."""
    import requests

    answer = requests.get(f"{address}.md5", timeout=TIMEOUT_S)
    found = re.search(r"\b[0-9a-f]{32}\b", answer.text.lower()) if answer.ok else None
    return None if found is None else f"md5:{found[0]}"


@dataclass(frozen=True)
class Resuming:
    """A downloader for pooch that asks for the bytes after those in ``part`` only.

    If ``is_checked`` the zip is read whole, against its own checksums, before it is handed over.
    """

    part: Path
    is_checked: bool
    follow: Follow

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        """Complete the part, and move it to ``output_file``."""
        import requests

        have = _size(self.part)
        asked = {"Range": f"bytes={have}-"} if have else {}
        with requests.get(url, headers=asked, stream=True, timeout=TIMEOUT_S) as answer:
            if answer.status_code != requests.codes.requested_range_not_satisfiable:
                answer.raise_for_status()  # else nothing is left to ask for
                self._append(answer, have if answer.status_code == requests.codes.partial else 0)
        if self.is_checked and not _is_whole(self.part):
            self.part.unlink()
            raise ValueError(f"{self.part.name} is no whole zip")
        self.part.replace(output_file)

    def _append(self, answer: Any, kept: int) -> None:
        """Write the bytes that come after the first ``kept``."""
        length = answer.headers.get("Content-Length")
        total = None if length is None else kept + int(length)
        with self.part.open("ab" if kept else "wb") as file:
            for piece in answer.iter_content(PIECE_BYTES):
                file.write(piece)
                self.follow(file.tell(), total)


def _is_whole(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        return False


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
