"""Many processes on one store, and a database that goes away and comes back."""

import time
from multiprocessing.connection import Connection

import pytest
from tests.service.conftest import Postgres
from tests.service.counting import check_store
from tests.service.serving import FORKS, SECONDS, Caller, Ledger, ServerProcess, play

CLIENTS = 8


def _play(port: int, seed: int, seconds: float, line: Connection) -> None:
    line.send(play(port, seed, seconds))


class ClientProcess:
    """A client that plays in a process of its own."""

    def __init__(self, port: int, seed: int, seconds: float) -> None:
        self.line, theirs = FORKS.Pipe()
        self.process = FORKS.Process(target=_play, args=(port, seed, seconds, theirs))
        self.process.start()
        theirs.close()

    def ledger(self) -> Ledger:
        """Return what it knows at the end."""
        assert self.line.poll(SECONDS)
        ledger = self.line.recv()
        self.process.join(SECONDS)
        assert isinstance(ledger, Ledger)
        return ledger


def test_counts_equal_what_eight_clients_of_two_servers_were_told(store_url: str) -> None:
    servers = [ServerProcess(store_url) for _ in range(2)]
    clients = [ClientProcess(servers[i % 2].port, i, seconds=2.0) for i in range(CLIENTS)]
    ledger = Ledger()
    for client in clients:
        ledger.merge(client.ledger())
    for server in servers:
        server.stop()
    assert len(ledger.acknowledged) > CLIENTS
    assert ledger.acknowledged == ledger.sent
    assert ledger.refusals == 0
    check_store(store_url, ledger)


def _wait_for_traffic(server: ServerProcess) -> None:
    end = time.monotonic() + SECONDS
    with Caller(server.port) as caller:
        while sum(caller.ask("GET", "/v1/activity?minutes=2")[1]["decisions"]) < 20:
            assert time.monotonic() < end
            time.sleep(0.1)


@pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)
def test_a_database_that_comes_back_is_used_again(store_url: str, postgres: Postgres) -> None:
    server = ServerProcess(store_url)
    clients = [ClientProcess(server.port, i, seconds=6.0) for i in range(4)]
    _wait_for_traffic(server)
    postgres.crash()
    try:
        with Caller(server.port) as caller:
            assert caller.ask("GET", "/healthz")[0] == 200
            assert caller.ask("GET", "/readyz")[0] == 503
            status, answer = caller.ask("POST", "/v1/decisions", {"user": "ada"})
            assert (status, answer["error"]["code"]) == (503, "store_unavailable")
    finally:
        postgres.start()
    ledger = Ledger()
    for client in clients:
        ledger.merge(client.ledger())
    after = play(server.port, 99, seconds=0.5)
    server.stop()
    assert after.acknowledged
    assert not after.refusals
    assert ledger.refusals
    ledger.merge(after)
    check_store(store_url, ledger)
