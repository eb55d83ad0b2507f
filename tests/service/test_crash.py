"""Killed in the middle, again and again: what was acknowledged is there, and counted once."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.service.counting import check_store
from tests.service.serving import (
    CONTEXTS,
    SECONDS,
    Caller,
    Ledger,
    ServerProcess,
    play,
    policy,
    policy_in_contexts,
    policy_that_forgets,
)

from lobandits.policies import Policy

TIMES = 10
CLIENTS = 6


@pytest.mark.parametrize("contexts", [(), CONTEXTS], ids=["", "in contexts"])
def test_a_killed_server_loses_nothing_and_counts_nothing_twice(
    store_url: str, contexts: tuple[str, ...]
) -> None:
    kill_again_and_again(store_url, contexts, TIMES)


def test_nothing_is_lost_or_counted_twice_where_rewards_fade(store_url: str) -> None:
    kill_again_and_again(store_url, (), TIMES, policy_that_forgets)


@pytest.mark.slow
def test_a_hundred_kills(store_url: str) -> None:
    kill_again_and_again(store_url, CONTEXTS, 100)


def kill_again_and_again(
    store_url: str,
    contexts: tuple[str, ...],
    times: int,
    make: Callable[[], Policy] | None = None,
) -> None:
    make = make or (policy_in_contexts if contexts else policy)
    ledger, rng = Ledger(), random.Random(0)
    for kill in range(times):
        most = rng.randrange(CLIENTS, 10 * CLIENTS)
        later = rng.uniform(0.0, 0.02)
        ledger.merge(_play_until_killed(store_url, kill, most, later, contexts, make))
        check_store(store_url, ledger)
    assert len(ledger.acknowledged) >= times * CLIENTS
    _send_again(store_url, ledger, make)
    ledger.acknowledged = dict(ledger.sent)
    check_store(store_url, ledger)


def _play_until_killed(
    url: str,
    kill: int,
    most: int,
    later: float,
    contexts: tuple[str, ...],
    make: Callable[[], Policy],
) -> Ledger:
    """Kill a server some seconds after it has acknowledged so many rewards, under load."""
    server = ServerProcess(url, make)
    known = [Ledger() for _ in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        playing = [
            pool.submit(play, server.port, CLIENTS * kill + i, SECONDS, contexts, known[i])
            for i in range(CLIENTS)
        ]
        while sum(len(ledger.acknowledged) for ledger in known) < most and not playing[0].done():
            time.sleep(0.002)
        time.sleep(later)
        server.kill()
    ledger = Ledger()
    for client in playing:
        ledger.merge(client.result())
    return ledger


def _send_again(url: str, ledger: Ledger, make: Callable[[], Policy]) -> None:
    """Report every reward once more: those that were lost on the way now count."""
    server = ServerProcess(url, make)
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
