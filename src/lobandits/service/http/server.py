"""The server of one process and its socket, until SIGTERM or SIGINT.

Then the listener closes first, requests that have come are answered with ``connection: close``,
and the exit code is 0. Nothing can keep the process from ending.
"""

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lobandits.basics.checks import whole
from lobandits.errors import LobError
from lobandits.service.http.connections import (
    HEADER_BYTES,
    IDLE_SECONDS,
    REQUEST_SECONDS,
    ClientConnection,
    Clients,
    most_connections,
)

GRACE = 6  # seconds for requests under way at the end
LAST = GRACE + 1.5  # seconds after the signal, when the process ends anyway
LINGER = 0.1  # seconds in which requests that were sent before the signal arrive
ACCEPTED_AT_ONCE = 100
BACKLOG = 2048  # connections that the system keeps for us

logger = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn, which after a graceful end returns instead of raising the signal again.

    The process ends with it: whatever still blocks then is left behind.
    """

    def __init__(
        self, app: ASGIApp, on_start: Callable[[], None], patience: float = REQUEST_SECONDS
    ) -> None:
        config = uvicorn.Config(
            self._answer, interface="asgi3", http=ClientConnection, ws="none", lifespan="on",
            log_config=None, access_log=False, proxy_headers=False, server_header=False,
            headers=[("x-content-type-options", "nosniff"), ("cache-control", "no-store")],
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=GRACE,
            h11_max_incomplete_event_size=HEADER_BYTES,
            backlog=ACCEPTED_AT_ONCE,
        )  # fmt: skip
        super().__init__(config)
        self.app = app
        self.on_start = on_start
        self.clients = self.server_state = Clients(most_connections(), patience)
        self._signalled = threading.Event()
        self._finished = False

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal."""
        threading.Thread(target=self._end_anyway, daemon=True).start()
        super().run(sockets)
        self._finished = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            for each in sockets or []:
                each.listen(BACKLOG)
            gc.freeze()  # what is loaded stays, so the collector need not look at it again
            self.on_start()

    async def on_tick(self, counter: int) -> bool:
        """Look after the connections, once a second."""
        if counter % 10 == 0:
            self.clients.sweep(asyncio.get_running_loop().time())
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the listener, answer what has come, then end."""
        for server in self.servers:
            server.close()
        for each in sockets or []:
            each.close()
        await asyncio.sleep(LINGER)
        self.clients.closed = True
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end."""
        super().handle_exit(sig, frame)
        self._signalled.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal while the server runs."""
        with handling(self.handle_exit):
            yield

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the app answer; at the end, on a connection that closes."""

        async def closing(message: Message) -> None:
            if self.should_exit and message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        await self.app(scope, receive, closing)

    def _end_anyway(self) -> None:
        """End the process some seconds after the signal, even if a thread never returns."""
        self._signalled.wait()
        time.sleep(LAST)
        if not self._finished:
            logger.error("ended before all requests were answered")
        os._exit(0 if self._finished else 1)


def leave() -> NoReturn:
    """End this process, whose work is done; to take down all that it has loaded takes seconds."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@contextmanager
def handling(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Let ``handler`` take the signals to end."""
    before = {n: signal.signal(n, handler) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def on_hangup(do: Callable[[], object]) -> None:
    """Do something at SIGHUP from now on, in a thread: a handler must not log or wait."""
    signal.signal(signal.SIGHUP, lambda *_: threading.Thread(target=do, daemon=True).start())


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
