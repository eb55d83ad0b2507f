"""How many pairs of a decision and its reward a running server answers, and how fast.

The client is a few lines over a socket: a full HTTP library would be slower than the server
that it measures.
"""

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
    """What a load test measured.

    Attributes
    ----------
    pairs : int
        Decisions made whose reward was recorded.
    seconds : float
        How long it took.
    latencies : array
        Seconds of each answer, sorted.
    errors : int
        Requests without the answer that they should have.
    example : str
        What the first error was.
    """

    pairs: int
    seconds: float
    latencies: FloatArray
    errors: int = 0
    example: str = ""

    @property
    def pairs_per_second(self) -> float:
        """Throughput."""
        return self.pairs / self.seconds

    def quantile(self, q: float) -> float:
        """Return the seconds within which a share ``q`` of requests was answered."""
        return float(np.quantile(self.latencies, q)) if self.latencies.size else float("nan")

    def __str__(self) -> str:
        p50, p99 = (1000 * self.quantile(q) for q in (0.5, 0.99))
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

    Parameters
    ----------
    url, key
        Where the server is, and a key that may decide.
    clients
        Connections; each waits for an answer before its next request.
    seconds
        For how long.
    users
        How many different users are asked for.
    processes
        Processes that the clients are spread over.
    seed
        Names the users and their rewards.
    """
    whole("clients", clients)
    whole("users", users)
    shares = [
        clients // processes + (i < clients % processes)
        for i in range(whole("processes", processes))
    ]
    place = _Place.parse(url, key)
    positive("seconds", seconds)
    jobs = [
        (place, share, seconds, users, f"{seed}/{i}") for i, share in enumerate(shares) if share
    ]
    if len(jobs) == 1:
        return _run(*jobs[0])
    with ProcessPoolExecutor(len(jobs), multiprocessing.get_context("spawn")) as pool:
        return _together(list(pool.map(_run, *zip(*jobs, strict=True))))


@dataclass(frozen=True)
class _Place:
    """Where requests go, and what every one of them begins with."""

    host: str
    port: int
    head: bytes

    @classmethod
    def parse(cls, url: str, key: str | None) -> "_Place":
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname or parts.path.strip("/"):
            raise LobInputError(f"url must be like http://127.0.0.1:8000, got {url!r}")
        lines = [f"host: {parts.netloc}", "content-type: application/json"]
        lines += [f"authorization: Bearer {key}"] if key else []
        return cls(parts.hostname, parts.port or 80, "\r\n".join(lines).encode())


class _Connection:
    """One client: a connection that is opened again when it breaks."""

    def __init__(self, place: _Place) -> None:
        self.place = place
        self.writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send one request, and return the answer's body."""
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection(
                self.place.host, self.place.port
            )
        data = json.dumps(body).encode()
        first = f"POST {path} HTTP/1.1\r\ncontent-length: {len(data)}\r\n".encode()
        self.writer.write(first + self.place.head + b"\r\n\r\n" + data)
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


@dataclass
class _Tally:
    """What the clients of one process count."""

    latencies: list[float]
    pairs: int = 0
    errors: int = 0
    example: str = ""


async def _client(place: _Place, end: float, users: int, seed: str, tally: _Tally) -> None:
    random, connection = Random(seed), _Connection(place)
    while time.perf_counter() < end:
        try:
            body: dict[str, Any] = {"user": f"user-{random.randrange(users)}"}
            began = time.perf_counter()
            decision = await connection.post("/v1/decisions", body)
            middle = time.perf_counter()
            body = {"decision": decision["id"], "reward": float(random.randrange(2))}
            await connection.post("/v1/rewards", body)
            tally.latencies += (middle - began, time.perf_counter() - middle)
            tally.pairs += 1
        except (LobError, OSError, EOFError, ValueError, LookupError) as error:
            tally.errors += 1
            tally.example = tally.example or str(error)
            connection.close()
            await asyncio.sleep(0.05)
    connection.close()


def _run(place: _Place, clients: int, seconds: float, users: int, seed: str) -> LoadReport:
    tally = _Tally([])

    async def main() -> float:
        began = time.perf_counter()
        await asyncio.gather(
            *(_client(place, began + seconds, users, f"{seed}/{i}", tally) for i in range(clients))
        )
        return time.perf_counter() - began

    took = asyncio.run(main())
    return LoadReport(tally.pairs, took, np.sort(tally.latencies), tally.errors, tally.example)


def _together(reports: list[LoadReport]) -> LoadReport:
    return LoadReport(
        pairs=sum(report.pairs for report in reports),
        seconds=max(report.seconds for report in reports),
        latencies=np.sort(np.concatenate([report.latencies for report in reports])),
        errors=sum(report.errors for report in reports),
        example=next((report.example for report in reports if report.errors), ""),
    )
