"""The server of one process and its socket, until SIGTERM or SIGINT.

Then no new request is taken, those under way are finished, and the exit code is 0.
"""

import gc
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from lobandits._checks import whole
from lobandits.errors import LobError

GRACE = 30  # seconds for requests under way at the end

logger = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn, which after a graceful end returns instead of raising the signal again."""

    def __init__(self, app: ASGIApp, on_start: Callable[[], None]) -> None:
        config = uvicorn.Config(
            app, ws="none", lifespan="on", log_config=None, access_log=False,
            proxy_headers=False, server_header=False,
            headers=[("x-content-type-options", "nosniff"), ("cache-control", "no-store")],
            timeout_keep_alive=65,  # longer than clients keep an idle connection
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=2**18,  # a name that is much too long can be refused
        )  # fmt: skip
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
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
def handling(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Let ``handler`` take the signals to end."""
    before = {n: signal.signal(n, handler) for n in (signal.SIGINT, signal.SIGTERM)}
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
    """Return the address of a bound socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announce(listener: socket.socket, workers: int) -> None:
    """Log that requests are answered."""
    logger.info("listening", extra={"fields": {"url": address(listener), "workers": workers}})
