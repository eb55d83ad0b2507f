"""A lean client for benchmarks: keep-alive connections that ask for a decision and reward it.

One process, one event loop, no HTTP library: it costs a small part of what a server does for the
same request, so that the server is what is measured.
"""

import asyncio
import json
import time
from dataclasses import dataclass, field

import numpy as np

DECIDE, REWARD = "/v1/decisions", "/v1/rewards"


@dataclass
class Load:
    """What was measured: pairs answered, the time this took, and milliseconds of each pair."""

    seconds: float = 0.0
    pairs: int = 0
    failures: int = 0
    times: list[float] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Pairs per second."""
        return self.pairs / self.seconds

    def quantile(self, q: float) -> float:
        """Return a quantile of the milliseconds that pairs took."""
        return 1000 * float(np.quantile(self.times, q)) if self.times else float("nan")


class Pairs(asyncio.Protocol):
    """One connection: decision, reward, decision, reward, until the time is over."""

    def __init__(self, load: Load, n_users: int, seed: int, end: float) -> None:
        self.load = load
        self.users = iter(np.random.default_rng(seed).integers(0, n_users, 100_000).tolist())
        self.end = end
        self.done = asyncio.get_running_loop().create_future()
        self.unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first decision."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.decide()

    def connection_lost(self, error: Exception | None) -> None:
        """Finish, also if the server closed the connection."""
        if not self.done.done():
            self.done.set_result(None)

    def decide(self) -> None:
        """Begin a pair."""
        self.began = time.perf_counter()
        if self.began > self.end:
            self.transport.close()
            return
        self.path = DECIDE
        self.post(b'{"user":"u%d"}' % next(self.users))

    def post(self, body: bytes) -> None:
        """Send a request."""
        head = f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        self.transport.write(b"%sContent-Length: %d\r\n\r\n%s" % (head.encode(), len(body), body))

    def data_received(self, data: bytes) -> None:
        """Take an answer as soon as it is whole."""
        self.unread += data
        head, found, body = self.unread.partition(b"\r\n\r\n")
        if not found or len(body) < _length(head):
            return
        self.unread = b""
        if not head.startswith(b"HTTP/1.1 200"):
            self.load.failures += 1
            self.decide()
        elif self.path == DECIDE:
            self.path = REWARD
            self.post(b'{"decision":"%s","reward":0.5}' % json.loads(body)["id"].encode())
        else:
            now = time.perf_counter()
            self.load.pairs += 1
            self.load.times.append(now - self.began)
            self.decide()


def _length(head: bytes) -> int:
    return int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])


def drive(port: int, seconds: float, connections: int, n_users: int) -> Load:
    """Keep ``connections`` busy for some seconds, each with one request at a time."""
    return asyncio.run(_drive(port, seconds, connections, n_users))


async def _drive(port: int, seconds: float, connections: int, n_users: int) -> Load:
    load, loop = Load(), asyncio.get_running_loop()
    began = time.perf_counter()
    made = [
        await loop.create_connection(
            lambda seed=seed: Pairs(load, n_users, seed, began + seconds),  # type: ignore[misc]
            "127.0.0.1",
            port,
        )
        for seed in range(connections)
    ]
    await asyncio.gather(*(protocol.done for _, protocol in made))
    load.seconds = time.perf_counter() - began
    return load
