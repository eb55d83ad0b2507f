"""Calls of threads and of an event loop: run in groups, each with its own outcome."""

import asyncio
import threading
import time
from typing import Any

import pytest
from tests.service.test_threads import together

from lobandits.service import call_queue as module
from lobandits.service.call_queue import MOST_TOGETHER, Call, CallQueue, DecisionCall
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.requests import DecisionRequest, read


def call(*users: str) -> DecisionCall:
    return DecisionCall(read(DecisionRequest, users, ("user",)))


class Store:
    """Answers calls with their number, after it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.groups: list[int] = []

    def run(self, calls: list[Call[Any]]) -> None:
        self.go.wait()
        self.groups.append(len(calls))
        for each in calls:
            user = each.items[0].user
            if user == "bad":
                each.set_exception(StoreUnavailableError("away"))
            else:
                each.set_result([user])


def test_calls_that_wait_form_one_group() -> None:
    store = Store()

    async def main() -> list[Any]:
        queue = CallQueue(store.run)
        first = asyncio.create_task(queue.answer(call("first")))
        while queue._waiting or not queue._busy:
            await asyncio.sleep(0)
        users = [*map(str, range(50)), "bad"]
        others = [asyncio.create_task(queue.answer(call(user))) for user in users]
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
        gone = asyncio.create_task(queue.answer(call("gone")))
        stays = asyncio.create_task(queue.answer(call("stays")))
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
        calls = [asyncio.create_task(queue.answer(call(*["u"] * size))) for size in sizes]
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
        calls = [asyncio.create_task(queue.answer(call(str(i)))) for i in range(5)]
        await asyncio.sleep(0.01)
        store.go.set()
        done = await asyncio.gather(*calls, return_exceptions=True)
        queue.close()
        return done

    done = asyncio.run(main())
    assert done[:3] == [["0"], ["1"], ["2"]]
    assert all(isinstance(error, StoreUnavailableError) for error in done[3:])


def test_who_waits_too_long_is_refused_and_never_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.05)
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.02)
    store = Store()

    async def main() -> list[Any]:
        queue = CallQueue(store.run)
        first = asyncio.create_task(queue.answer(call("first")))
        while queue._waiting or not queue._busy:
            await asyncio.sleep(0)
        late = asyncio.create_task(queue.answer(call("late")))
        done = await asyncio.gather(first, late, return_exceptions=True)
        store.go.set()
        while not store.groups:
            await asyncio.sleep(0.001)
        after = await queue.answer(call("after"))
        queue.close()
        return [*done, after]

    first, late, after = asyncio.run(main())
    assert all(isinstance(error, StoreUnavailableError) for error in (first, late))
    assert after == ["after"]
    assert store.groups == [1, 1], "the late call was run"


def test_threads_and_coroutines_share_a_thread() -> None:
    store = Store()

    async def main() -> list[Any]:
        queue = CallQueue(store.run)
        mine = [asyncio.create_task(queue.answer(call(f"c{i}"))) for i in range(5)]
        asked = (asyncio.to_thread(queue.ask, call(f"t{i}")) for i in range(5))
        theirs = [asyncio.create_task(each) for each in asked]
        await asyncio.sleep(0.01)
        store.go.set()
        done = [await each for each in (*mine, *theirs)]
        queue.close()
        with pytest.raises(StoreUnavailableError):
            queue.ask(call("after"))
        return done

    assert asyncio.run(main()) == [[f"{kind}{i}"] for kind in "ct" for i in range(5)]
    assert sum(store.groups) == 10


def test_calls_that_come_meanwhile_share_a_transaction() -> None:
    groups: list[int] = []

    def run(calls: list[Call[Any]]) -> None:
        groups.append(sum(len(each.items) for each in calls))
        time.sleep(0.05)
        for each in calls:
            each.set_result([])

    queue = CallQueue(run)
    together(40, lambda i: queue.ask(call("u")))
    assert sum(groups) == 40
    assert len(groups) < 10
    half = ["u"] * (MOST_TOGETHER // 2)
    groups.clear()
    together(9, lambda i: queue.ask(call(*(half if i else half * 4))))
    assert max(groups) == 2 * MOST_TOGETHER
    assert sorted(groups)[-2] <= MOST_TOGETHER
    queue.close()
