"""Servers and clients in processes of their own, for tests that kill and count.

Processes are forked from one that has imported and compiled everything, so a server starts in
a fraction of a second.
"""

import http.client
import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import lobandits as lob
from lobandits.policies import Policy
from lobandits.service.http import Settings

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.service.warm"])
ARMS = ("tea", "coffee", "water", "juice")
CONTEXTS = ("day", "night")
SECONDS = 30.0  # nothing here takes longer


def policy() -> Policy:
    rankings = [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]]
    return lob.LobTS(lob.LatentOrders.from_rankings(rankings, arms=ARMS), sigma=1.0)


def policy_that_forgets() -> Policy:
    return policy()._with(half_life=1.0)  # a second: landmarks move while servers are killed


def policy_in_contexts() -> Policy:
    orders = policy().orders  # type: ignore[attr-defined]
    return lob.LobTS(lob.LatentOrders.per_context(dict.fromkeys(CONTEXTS, orders)), sigma=1.0)


def _serve(
    url: str, line: Connection, make: Callable[[], Policy], settings: Settings | None, port: int
) -> None:
    from lobandits.service import DecisionService
    from lobandits.service.http import create_app
    from lobandits.service.http.server import Server, listen

    listener = listen("127.0.0.1", port)
    app = create_app(DecisionService(make(), url), settings)
    Server(app, lambda: line.send(listener.getsockname()[1])).run([listener])


class ServerProcess:
    """A server of the store at ``url``."""

    def __init__(
        self,
        url: str,
        make: Callable[[], Policy] = policy,
        settings: Settings | None = None,
        port: int = 0,
    ) -> None:
        line, theirs = FORKS.Pipe()
        args = url, theirs, make, settings, port
        # Of a test that failed, it ends with the tests.
        self.process = FORKS.Process(target=_serve, args=args, daemon=True)
        self.process.start()
        theirs.close()
        assert line.poll(SECONDS), "the server did not start"
        self.port: int = line.recv()
        self.address = f"http://127.0.0.1:{self.port}/"

    def kill(self) -> None:
        """End the process as a power cut would: nothing is finished, nothing is closed."""
        assert self.process.pid is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.join(SECONDS)

    def stop(self) -> None:
        """Ask the process to end."""
        self.process.terminate()
        self.process.join(SECONDS)
        assert self.process.exitcode == 0


class Caller:
    """One connection to a server."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *error: object) -> None:
        self.connection.close()

    def ask(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """Return status and body of the answer."""
        text = None if body is None else json.dumps(body)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        self.connection.request(method, path, text, headers)
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())


@dataclass
class Ledger:
    """What clients know: decisions and rewards that were acknowledged, and rewards sent."""

    decided: dict[str, tuple[str, str]] = field(default_factory=dict)
    acknowledged: dict[str, float] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)
    refusals: int = 0  # answers 503

    def merge(self, other: "Ledger") -> None:
        """Add what another client knows."""
        self.decided |= other.decided
        self.acknowledged |= other.acknowledged
        self.sent |= other.sent
        self.refusals += other.refusals


def play(
    port: int,
    seed: int,
    seconds: float,
    contexts: Sequence[str] = (),
    ledger: Ledger | None = None,
) -> Ledger:
    """Ask for decisions and reward them, until the time is over or the connection breaks.

    Decisions are in one of ``contexts``, at random, if there are any. What is known is written into
    ``ledger``. Rewards are multiples of 1/8, so that their sums are exact in any order.
    """
    ledger, rng = ledger or Ledger(), random.Random(seed)
    end = time.monotonic() + seconds
    with suppress(OSError, http.client.HTTPException), Caller(port) as caller:
        while time.monotonic() < end:
            _play_once(ledger, rng, caller, contexts)
    return ledger


def _play_once(ledger: Ledger, rng: random.Random, caller: Caller, contexts: Sequence[str]) -> None:
    user = f"user {rng.randrange(20)}"
    context = {"context": rng.choice(contexts)} if contexts else {}
    status, decision = caller.ask("POST", "/v1/decisions", {"user": user, **context})
    if status == 503:
        ledger.refusals += 1
        return
    assert status == 200, decision
    arm = ": ".join([*context.values(), decision["arm"]])
    ledger.decided[decision["id"]] = (user, arm)
    reward = rng.randrange(-16, 17) / 8
    ledger.sent[decision["id"]] = reward
    status, answer = caller.ask(
        "POST", "/v1/rewards", {"decision": decision["id"], "reward": reward}
    )
    if status == 503:
        ledger.refusals += 1
        return
    assert (status, answer) == (200, {"status": "recorded"})
    ledger.acknowledged[decision["id"]] = reward
