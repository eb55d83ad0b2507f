"""Calls from an event loop: run in groups, each with its own outcome."""

import asyncio
import threading
from typing import Any

import pytest

from lobandits.service.calls import Call, DecisionCall
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.http import call_queue as module
from lobandits.service.http.call_queue import CallQueue


class Store:
    """Answers calls with their number, after it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.groups: list[int] = []

    def run(self, calls: list[Call[Any]]) -> None:
        self.go.wait()
        self.groups.append(len(calls))
        for call in calls:
            user = call.requests[0].user  # type: ignore[attr-defined]
            if user == "bad":
                call.fail(StoreUnavailableError("away"))
            else:
                call.finish([user])


def test_calls_that_wait_form_one_group() -> None:
    store = Store()

    async def main() -> list[Any]:
        queue = CallQueue(store.run)
        first = asyncio.create_task(queue(DecisionCall(["first"])))
        while queue._waiting or not queue._busy:
            await asyncio.sleep(0)
        users = [*map(str, range(50)), "bad"]
        others = [asyncio.create_task(queue(DecisionCall([user]))) for user in users]
        await asyncio.sleep(0.01)
        store.go.set()
        done = await asyncio.gather(first, *others, return_exceptions=True)
        queue.close()
        return done

    *answers, bad = asyncio.run(main())
    assert answers == [["first"], *([str(i)] for i in range(50))]
    assert isinstance(bad, StoreUnavailableError)
    assert store.groups == [1, 51]


def test_a_caller_who_goes_away_stops_nobody() -> None:
    store = Store()

    async def main() -> Any:
        queue = CallQueue(store.run)
        gone = asyncio.create_task(queue(DecisionCall(["gone"])))
        stays = asyncio.create_task(queue(DecisionCall(["stays"])))
        await asyncio.sleep(0.01)
        gone.cancel()
        store.go.set()
        answer = await stays
        queue.close()
        return answer

    assert asyncio.run(main()) == ["stays"]


def test_groups_are_bounded_by_what_they_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TOGETHER", 5)
    store = Store()

    async def main() -> None:
        queue = CallQueue(store.run)
        sizes = (1, 3, 3, 9, 1, 2, 2, 1)
        calls = [asyncio.create_task(queue(DecisionCall(["u"] * size))) for size in sizes]
        store.go.set()
        await asyncio.gather(*calls)
        queue.close()

    asyncio.run(main())
    assert store.groups == [2, 1, 1, 3, 1]


def test_there_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 3)
    store = Store()

    async def main() -> list[Any]:
        queue = CallQueue(store.run)
        calls = [asyncio.create_task(queue(DecisionCall([str(i)]))) for i in range(5)]
        await asyncio.sleep(0.01)
        store.go.set()
        done = await asyncio.gather(*calls, return_exceptions=True)
        queue.close()
        return done

    done = asyncio.run(main())
    assert done[:3] == [["0"], ["1"], ["2"]]
    assert all(isinstance(error, StoreUnavailableError) for error in done[3:])
