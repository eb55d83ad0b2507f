"""Killed in the middle, again and again: what was acknowledged is there, and counted once."""

import random
from concurrent.futures import ThreadPoolExecutor

from tests.service.counting import check_store
from tests.service.serving import SECONDS, Caller, Ledger, ServerProcess, play

TIMES = 20
CLIENTS = 6


def test_a_killed_server_loses_nothing_and_counts_nothing_twice(store_url: str) -> None:
    ledger, rng = Ledger(), random.Random(0)
    for kill in range(TIMES):
        ledger.merge(_play_until_killed(store_url, kill, rng.uniform(0.1, 0.4)))
        check_store(store_url, ledger)
    assert len(ledger.acknowledged) > TIMES * CLIENTS
    _send_again(store_url, ledger)
    ledger.acknowledged = dict(ledger.sent)
    check_store(store_url, ledger)


def _play_until_killed(url: str, kill: int, seconds: float) -> Ledger:
    server = ServerProcess(url)
    with ThreadPoolExecutor(CLIENTS + 1) as pool:
        playing = [
            pool.submit(play, server.port, CLIENTS * kill + client, SECONDS)
            for client in range(CLIENTS)
        ]
        server.process.join(seconds)  # under load
        server.kill()
    ledger = Ledger()
    for client in playing:
        ledger.merge(client.result())
    return ledger


def _send_again(url: str, ledger: Ledger) -> None:
    """Report every reward once more: those that were lost on the way now count."""
    server = ServerProcess(url)
    rewards = [{"decision": key, "reward": reward} for key, reward in ledger.sent.items()]
    with Caller(server.port) as caller:
        for first in range(0, len(rewards), 1000):
            body = {"rewards": rewards[first : first + 1000]}
            status, answer = caller.ask("POST", "/v1/rewards/batch", body)
            assert status == 200
            for result in answer["results"]:
                known = result["decision"] in ledger.acknowledged
                assert result["status"] in ("already recorded", *([] if known else ["recorded"]))
    server.stop()
