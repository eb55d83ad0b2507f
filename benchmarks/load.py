"""How fast a running server answers, asked over sockets: an HTTP library would be slower."""

import asyncio
import json
import time
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from lobandits.basics.checks import FloatArray
from lobandits.errors import LobError


@dataclass(frozen=True)
class LoadReport:
    """What the clients of a server measured."""

    seconds: float
    latencies: FloatArray  # seconds of each answer, two for a pair
    errors: list[str]

    @property
    def pairs_per_second(self) -> float:
        """Decisions whose reward was recorded, per second."""
        return self.latencies.size / 2 / self.seconds


class Connection:
    """A connection that is opened again when it breaks."""

    def __init__(self, url: str) -> None:
        self.url = urlsplit(url)
        self.head = f"host: {self.url.netloc}\r\ncontent-type: application/json\r\n\r\n".encode()
        self.writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer's body."""
        if self.writer is None:
            host, port = self.url.hostname, self.url.port
            self.reader, self.writer = await asyncio.open_connection(host, port)
        data = json.dumps(body).encode()
        first = f"POST {path} HTTP/1.1\r\ncontent-length: {len(data)}\r\n".encode()
        self.writer.write(first + self.head + data)
        head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        size = int(head.partition(b"content-length:")[2].partition(b"\r\n")[0])
        answer = json.loads(await self.reader.readexactly(size))
        if b"connection: close" in head:
            self.close()
        if "error" in answer:
            raise LobError(f"{answer['error']['code']}: {answer['error']['message']}")
        return dict(answer)

    def close(self) -> None:
        """Close the connection."""
        if self.writer is not None:
            self.writer.close()
        self.writer = None


def load_test(url: str, clients: int, seconds: float, users: int = 10_000) -> LoadReport:
    """Ask the server at ``url`` for decisions and report rewards, as fast as it answers.

    Each client waits for an answer before its next request.
    """
    latencies: list[float] = []
    errors: list[str] = []

    async def play(random: Random, end: float) -> None:
        connection = Connection(url)
        while time.perf_counter() < end:
            try:
                asked = time.perf_counter()
                user = f"user-{random.randrange(users)}"
                decision = await connection.post("/v1/decisions", {"user": user})
                decided = time.perf_counter()
                report = {"decision": decision["id"], "reward": float(random.randrange(2))}
                await connection.post("/v1/rewards", report)
                latencies.extend((decided - asked, time.perf_counter() - decided))
            except (LobError, OSError, EOFError, ValueError, LookupError) as error:
                errors.append(str(error))
                connection.close()
                await asyncio.sleep(0.05)
        connection.close()

    async def measure() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(play(Random(i), began + seconds) for i in range(clients)))
        return time.perf_counter() - began

    return LoadReport(asyncio.run(measure()), np.array(latencies), errors)
