"""Silent clients, slow ones, and too many of them: others are served all the same."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from tests.service.serving import FORKS, SECONDS, Caller, policy

from lobandits.service.http.connections import HEADER_BYTES

DESCRIPTORS = 200
PATIENCE = 1.0
HEAD = b"POST /v1/decisions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


def _serve(url: str, line: Connection, log: str) -> None:
    """Serve with few descriptors and little patience, and with a log in a file."""
    import sys

    from lobandits.service import DecisionService
    from lobandits.service.http import create_app
    from lobandits.service.http.json_log import start_logging
    from lobandits.service.http.server import Server, listen

    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    listener = listen("127.0.0.1", 0)
    with Path(log).open("w") as sys.stdout:
        start_logging("warning")
        app = create_app(DecisionService(policy(), url))
        server = Server(app, lambda: line.send(listener.getsockname()[1]), patience=PATIENCE)
        server.run([listener])


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    line, theirs = FORKS.Pipe()
    url, log = f"sqlite:///{tmp_path}/lob.db", str(tmp_path / "log")
    process = FORKS.Process(target=_serve, args=(url, theirs, log))
    process.start()
    assert line.poll(SECONDS), "the server did not start"
    yield int(line.recv())
    process.terminate()
    process.join(SECONDS)
    assert process.exitcode == 0


@contextmanager
def connected(port: int, *parts: bytes) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), SECONDS) as line:
        for part in parts:
            line.sendall(part)
        yield line


def seconds_until_closed(line: socket.socket, drip: bytes = b"") -> float:
    """Return how long the server keeps a connection on which a byte comes now and then."""
    began = time.monotonic()
    line.settimeout(0.2)
    while time.monotonic() - began < SECONDS:
        try:
            if drip:
                line.sendall(drip)
            if not line.recv(1000):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - began


@pytest.mark.parametrize(
    ("begin", "drip"),
    [
        pytest.param(b"", b"", id="silent"),
        pytest.param(b"GET /healthz HTTP/1.1\r\nx: ", b"a", id="slow headers"),
        pytest.param(HEAD + b"content-length: 1000\r\n\r\n", b" ", id="slow body"),
    ],
)
def test_a_request_must_arrive_in_time(port: int, begin: bytes, drip: bytes) -> None:
    with connected(port, begin) as line:
        assert PATIENCE / 2 < seconds_until_closed(line, drip) < PATIENCE + 5


def test_an_idle_connection_stays_and_its_next_request_must_arrive_in_time(port: int) -> None:
    with Caller(port) as caller:
        assert caller.ask("GET", "/healthz")[0] == 200
        time.sleep(PATIENCE + 1.5)
        assert caller.ask("GET", "/healthz")[0] == 200
        line = caller.connection.sock
        line.sendall(b"GET /heal")
        assert seconds_until_closed(line, b"t") < PATIENCE + 5


def test_nobody_is_kept_out_by_silent_connections(port: int, tmp_path: Path) -> None:
    """More than there are descriptors, and each is new: the oldest make room."""
    with ExitStack() as stack, Caller(port) as known:
        assert known.ask("GET", "/healthz")[0] == 200
        for i in range(3 * DESCRIPTORS):
            stack.enter_context(connected(port))
            if i % 50 == 0:
                with Caller(port) as caller:
                    assert caller.ask("POST", "/v1/decisions", {"user": "ada"})[0] == 200
        assert known.ask("GET", "/healthz")[0] == 200, "who was served before is closed last"
    lines = (tmp_path / "log").read_text().splitlines()
    assert 1 <= len(lines) <= 5
    assert "too many connections: silent ones are closed" in lines[0]


def test_headers_have_a_limit(port: int) -> None:
    reset = pytest.raises(OSError, match=r"reset|Broken pipe")
    with connected(port, b"GET /healthz HTTP/1.1\r\nx: ") as line, reset:
        line.sendall(b"a" * (100 * HEADER_BYTES))
    with Caller(port) as caller:
        assert caller.ask("GET", "/healthz")[0] == 200
