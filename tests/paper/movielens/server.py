"""A real HTTP server on loopback that can do, and can fail to do, what servers do."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from lobandits.paper.movielens.download import download_movielens

NAME = "ml-20m.zip"
N_RATINGS = 20_000  # in it


class Files(ThreadingHTTPServer):
    """Serves ``files`` by name.

    ``ranges``: whether it knows Range. ``breaks``: after how many bytes each of the next answers
    breaks off. ``says_length``: whether it says how long an answer is. ``pause_after``: after how
    many bytes it sets ``paused``, and waits for ``go_on``.
    """

    daemon_threads = True

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = files
        self.tag = '"one"'
        self.ranges = True
        self.says_length = True
        self.breaks: list[int] = []
        self.pause_after: int | None = None
        self.paused, self.go_on = threading.Event(), threading.Event()
        self.requests: list[tuple[str, str | None]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/data"


class Handler(BaseHTTPRequestHandler):
    """Answers GET of one file, whole or from some byte on."""

    server: Files

    def do_GET(self) -> None:
        name = self.path.removeprefix("/data/")
        wanted = self.headers.get("Range")
        self.server.requests.append((name, wanted))
        if name not in self.server.files:
            self.send_error(404)
            return
        body, first = self.server.files[name], 0
        same = self.headers.get("If-Range", self.server.tag) == self.server.tag
        found = re.fullmatch(r"bytes=(\d+)-", wanted or "")
        if found and same and self.server.ranges:
            first = int(found[1])
        if first >= len(body) and first:
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if first else 200)
        if first:
            self.send_header("Content-Range", f"bytes {first}-{len(body) - 1}/{len(body)}")
        if self.server.says_length:
            self.send_header("Content-Length", str(len(body) - first))
        self.send_header("ETag", self.server.tag)
        self.end_headers()
        if name.endswith(".zip"):
            self.send_zip(body[first:])
        else:
            self.wfile.write(body)
        self.close_connection = True

    def send_zip(self, rest: bytes) -> None:
        server = self.server
        if server.breaks:
            rest = rest[: server.breaks.pop(0)]
        if server.pause_after is not None:
            self.wfile.write(rest[: server.pause_after])
            self.wfile.flush()
            server.paused.set()
            server.go_on.wait(60)
            return
        self.wfile.write(rest)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[Files]:
    """Yield a running server."""
    with Files(files) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server: Files, folder: Path) -> Path:
    """Download the edition that the server has."""
    return download_movielens("movielens-20m", folder, server.url)


def zips(server: Files) -> list[str | None]:
    """Return the ranges that were asked for."""
    return [wanted for name, wanted in server.requests if name == NAME]
