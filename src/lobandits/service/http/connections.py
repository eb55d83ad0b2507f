"""The clients' connections: how many there may be, and how long a request may take to arrive.

h11 parses, whatever else is installed: its limit on headers is the one that we state.
"""

import logging
import resource
from contextlib import suppress
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

REQUEST_SECONDS = 30.0  # from its first byte to its last, and to read a part of our answer
IDLE_SECONDS = 65  # between requests; longer than clients keep an idle connection
MOST_CONNECTIONS = 2_000  # of a process
HEADER_BYTES = 2**16  # of a request; a name that is much too long can still be refused
SPARE = 256  # descriptors for the store and for what is being accepted
MOST_DESCRIPTORS = 2**16

logger = logging.getLogger(__name__)


def raise_descriptors() -> int:
    """Raise this process's limit of descriptors to what it may be; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return wanted if soft == resource.RLIM_INFINITY else soft


def most_connections() -> int:
    """Return how many connections this process takes, so that descriptors are left."""
    limit = raise_descriptors()
    return min(MOST_CONNECTIONS, limit - min(SPARE, limit // 2))


class Clients(ServerState):
    """The open connections, at most ``most``; the silent ones make room, the oldest first."""

    def __init__(self, most: int, patience: float = REQUEST_SECONDS) -> None:
        super().__init__()
        self.most = most
        self.patience = patience
        self.closed = False  # no request is taken any more
        self._full = False

    def entered(self, newest: "ClientConnection") -> None:
        """Make room if there are too many; who came last goes if all others are being served."""
        if self.closed:
            newest.transport.abort()
        if len(self.connections) > self.most:
            self._say(full=True)
            silent = [each for each in self._all() if each.waits and each is not newest]
            silent.sort(key=lambda each: (each.served, each.since))
            for each in silent[: 1 + self.most // 20] or [newest]:
                each.leave()

    def sweep(self, now: float) -> None:
        """Close connections whose request, or whose reader, takes too long."""
        for each in self._all():
            if each.overdue(now - self.patience):
                each.leave()
        if len(self.connections) < 0.9 * self.most:
            self._say(full=False)

    def _all(self) -> list["ClientConnection"]:
        return [each for each in self.connections if isinstance(each, ClientConnection)]

    def _say(self, full: bool) -> None:
        """Log once that connections are too many, and once that they no longer are."""
        if full != self._full:
            self._full = full
            fields = {"fields": {"connections": len(self.connections), "most": self.most}}
            if full:
                logger.error("too many connections: silent ones are closed", extra=fields)
            else:
                logger.warning("connections are below their limit again", extra=fields)


class ClientConnection(H11Protocol):
    """A connection that knows since when its client is silent."""

    server_state: Clients

    def connection_made(self, transport: Any) -> None:
        """Enter; the first request may now take its time."""
        super().connection_made(transport)
        self.served = False  # any request so far
        self.since = self.loop.time()  # the client is silent, or its request began to arrive
        self._stuck: float | None = None  # since when our answer is not being read
        self.server_state.entered(self)

    def data_received(self, data: bytes) -> None:
        """Take what came; the first bytes of a request start its clock."""
        if self.timeout_keep_alive_task is not None:
            self.since = self.loop.time()
        super().data_received(data)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.served = True
        self.since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Note that the client does not read."""
        self._stuck = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Note that it reads again."""
        self._stuck = None
        super().resume_writing()

    @property
    def waits(self) -> bool:
        """Whether it is the client's turn: no request has arrived whole."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def overdue(self, then: float) -> bool:
        """Whether a request began to arrive, or an answer to be read, before ``then``."""
        idle = self.timeout_keep_alive_task is not None  # between requests, with its own clock
        slow = self.waits and not idle and self.since < then
        return slow or (self._stuck is not None and self._stuck < then)

    def leave(self) -> None:
        """Close at once, whatever is left to be sent."""
        self.transport.abort()

    def shutdown(self) -> None:
        """Close, after the answer that is under way."""
        with suppress(h11.LocalProtocolError):
            super().shutdown()
            return
        self.transport.close()
