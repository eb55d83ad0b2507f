"""Running an app: one process or several on one port, until a signal asks them to end.

On SIGTERM or SIGINT no new request is taken, those under way are finished, and the exit code
is 0. Several processes share one listening socket; one that dies is replaced.
"""

import gc
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from lobandits._checks import whole
from lobandits.errors import LobError
from lobandits.service.logs import LOG

GRACE = 30  # seconds for requests under way at the end
KEEP_ALIVE = 65  # seconds; longer than clients keep a connection that they do not use
LONGEST_HEADER = 2**18  # bytes: a name of 10,000 emoji, percent-encoded, is read and refused
HEADERS = [("x-content-type-options", "nosniff"), ("cache-control", "no-store")]
SIGNALS = (signal.SIGINT, signal.SIGTERM)

Handler = Callable[[int, FrameType | None], Any]


class Server(uvicorn.Server):
    """Uvicorn, which after a graceful end returns instead of raising the signal again."""

    def __init__(self, app: ASGIApp, on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app, ws="none", lifespan="on", log_config=None, access_log=False,
            proxy_headers=False, server_header=False, headers=HEADERS,
            timeout_keep_alive=KEEP_ALIVE, timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=LONGEST_HEADER,
        )  # fmt: skip
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then say so."""
        await super().startup(sockets)
        if self.started:
            gc.freeze()  # what is loaded stays, so the collector need not look at it again
            self.on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal while the server runs."""
        with handling(self.handle_exit):
            yield


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Let ``handler`` take the signals to end, if this is the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket bound to ``host`` and ``port``; port 0 takes a free one."""
    whole("port", port, least=0, most=65535)  # getaddrinfo takes what is left of a larger one
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
        except BaseException:
            listener.close()
            raise
    except OSError as error:
        raise LobError(f"cannot listen on {host}, port {port}: {error}") from error
    return listener


def address(listener: socket.socket) -> str:
    """Return the address of a bound socket, as a client writes it.

    Examples
    --------
    >>> with listen("127.0.0.1", 0) as listener:
    ...     address(listener).rpartition(":")[0]
    'http://127.0.0.1'
    """
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, listener: socket.socket) -> None:
    """Serve ``app`` in this process until a signal."""

    def say() -> None:
        LOG.info("listening", extra={"fields": {"url": address(listener), "workers": 1}})

    Server(app, say).run([listener])


def work(make: Callable[[], ASGIApp], listener: socket.socket, parent: Connection) -> None:
    """Serve as one of several processes, until a signal or the death of the parent."""
    server = Server(make(), lambda: parent.send("started"))

    def watch() -> None:
        try:
            parent.recv()
        except (EOFError, OSError):
            server.should_exit = True

    threading.Thread(target=watch, daemon=True).start()
    server.run([listener])
