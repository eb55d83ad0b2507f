"""How fast a running server answers, asked over sockets: an HTTP library would be slower."""

import asyncio
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from random import Random
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from lobandits._checks import FloatArray, positive, whole
from lobandits.errors import LobError, LobInputError


@dataclass(frozen=True)
class LoadReport:
    """What a load test measured."""

    seconds: float
    latencies: FloatArray  # seconds of each answer, two for a pair
    errors: int = 0
    example: str = ""  # the first error

    @property
    def pairs(self) -> int:
        """Decisions whose reward was recorded."""
        return self.latencies.size // 2

    @property
    def pairs_per_second(self) -> float:
        """Throughput."""
        return self.pairs / self.seconds

    def __str__(self) -> str:
        known = self.latencies if self.latencies.size else np.nan
        p50, p99 = 1000 * np.quantile(known, (0.5, 0.99))
        text = (
            f"{self.pairs} pairs of a decision and its reward in {self.seconds:.1f} s\n"
            f"{self.pairs_per_second:.0f} pairs per second\n"
            f"p50 {p50:.2f} ms, p99 {p99:.2f} ms for a request\n"
            f"{self.errors} errors"
        )
        return f"{text}; the first: {self.example}" if self.errors else text


def load_test(
    url: str,
    key: str | None = None,
    *,
    clients: int = 16,
    seconds: float = 10.0,
    users: int = 10_000,
    processes: int = 1,
    seed: int = 0,
) -> LoadReport:
    """Ask the server at ``url`` for decisions and report rewards, as fast as it answers.

    Each of the ``clients``, spread over ``processes``, waits for an answer before its next request.
    """
    whole("clients", clients)
    whole("users", users)
    whole("processes", processes)
    positive("seconds", seconds)
    parts = urlsplit(url)
    if parts.scheme != "http" or not parts.hostname or parts.path.strip("/"):
        raise LobInputError(f"url must be like http://127.0.0.1:8000, got {url!r}")
    place = parts.hostname, parts.port or 80
    head = f"host: {parts.netloc}\r\ncontent-type: application/json\r\n"
    head += f"authorization: Bearer {key}\r\n" if key else ""
    jobs = [
        (place, head.encode(), len(range(i, clients, processes)), seconds, users, f"{seed}/{i}")
        for i in range(min(clients, processes))
    ]
    if len(jobs) == 1:
        found = [_run(*jobs[0])]
    else:
        with ProcessPoolExecutor(len(jobs), multiprocessing.get_context("spawn")) as pool:
            found = list(pool.map(_run, *zip(*jobs, strict=True)))
    times, latencies, errors = zip(*found, strict=True)
    wrong = [message for messages in errors for message in messages]
    return LoadReport(max(times), np.concatenate(latencies), len(wrong), wrong[0] if wrong else "")


class _Connection:
    """A connection that is opened again when it breaks."""

    def __init__(self, place: tuple[str, int], head: bytes) -> None:
        self.place = place
        self.head = head
        self.writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer's body."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(*self.place)
        data = json.dumps(body).encode()
        first = f"POST {path} HTTP/1.1\r\ncontent-length: {len(data)}\r\n".encode()
        self.writer.write(first + self.head + b"\r\n" + data)
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


def _run(
    place: tuple[str, int], head: bytes, clients: int, seconds: float, users: int, seed: str
) -> tuple[float, list[float], list[str]]:
    """Return how long the clients of one process took, with latencies and errors."""
    latencies: list[float] = []
    errors: list[str] = []

    async def play(random: Random, end: float) -> None:
        connection = _Connection(place, head)
        while time.perf_counter() < end:
            try:
                user = f"user-{random.randrange(users)}"
                asked = time.perf_counter()
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

    async def main() -> float:
        began = time.perf_counter()
        end = began + seconds
        await asyncio.gather(*(play(Random(f"{seed}/{i}"), end) for i in range(clients)))
        return time.perf_counter() - began

    return asyncio.run(main()), latencies, errors
