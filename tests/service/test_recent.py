"""Half-lives in a store: faded sums that are the same in any order, shard, epoch and database."""

import itertools
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.policies import TS
from lobandits.service import Control, DecisionService, open_store
from lobandits.service.recent import Added, Recent
from lobandits.service.store import Store

DAY = 86400.0
HALF_LIFE = 7_000_000  # microseconds
Cell = list[tuple[int, float, int]]  # arm, reward, time
REWARDS = st.lists(
    st.tuples(st.integers(1, 3), st.floats(-100, 100), st.integers(-(10**9), 2 * 10**9)),
    max_size=25,
)
USERS = itertools.count(1)
ARMS = ("tea", "milk")


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    opened = open_store(store_url)
    yield opened
    opened.close()


def twin(rewards: Cell, arm: int, now: int, half_life: int = HALF_LIFE) -> tuple[Any, ...]:
    """Return weight, weighted sum and squares of an arm at ``now``, one reward at a time."""
    mine = [(reward, 2.0 ** ((t - now) / half_life)) for a, reward, t in rewards if a == arm]
    return sum(g for _, g in mine), sum(g * r for r, g in mine), sum(g * g for _, g in mine)


def at(row: Recent, now: int) -> tuple[float, float, float]:
    """Return stored sums as they are at ``now``."""
    factor = 2.0 ** (64.0 * row.epoch - now / row.half_life)
    return row.weight * factor, row.weighted * factor, row.squares * factor**2


def check(found: dict[int, Recent], rewards: Cell) -> None:
    """Compare with the twin at the time of the arm's latest reward."""
    assert found.keys() == {arm for arm, _, _ in rewards}
    for arm, row in found.items():
        now = max(t for a, _, t in rewards if a == arm)
        size = max(1.0, *(abs(r) for a, r, _ in rewards if a == arm), 1.0)
        weight, weighted, squares = at(row, now)
        plain = twin(rewards, arm, now)
        assert weight == pytest.approx(plain[0], rel=1e-12)
        assert weighted == pytest.approx(plain[1], rel=1e-12, abs=1e-12 * size * plain[0])
        assert squares == pytest.approx(plain[2], rel=1e-12)


def added(user: int, rewards: Cell, half_life: int = HALF_LIFE) -> Added:
    """Return what a transaction with these rewards adds."""
    made = Added()
    for arm, reward, when in rewards:
        made.add((user, arm), reward, when, half_life)
    return made


def rows(store: Store, user: int) -> dict[int, Recent]:
    """Return what is stored of a user, by arm."""
    found = store.rows(
        "SELECT arm_id, half_life, epoch, weight, weighted, squares FROM statistics "
        "WHERE user_id = :user",
        user=user,
    )
    return {arm: Recent(*recent) for arm, *recent in found}


def write(store: Store, made: Added) -> None:
    """Write what a transaction adds."""
    store.write(lambda c: store.transaction(c).add_fading_statistics(made.fading()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(rewards=REWARDS, cuts=st.lists(st.integers(0, 25), max_size=3), seed=st.integers(0, 99))
def test_any_order_any_transactions_and_any_landmark_store_the_plain_sums(
    store: Store, rewards: Cell, cuts: list[int], seed: int
) -> None:
    order = np.random.default_rng(seed).permutation(len(rewards)).tolist()
    user = next(USERS)
    ends = [0, *sorted(cuts), len(rewards)]
    for first, last in itertools.pairwise(ends):
        write(store, added(user, [rewards[i] for i in order[first:last]]))
    check(rows(store, user), rewards)
    plays = store.rows("SELECT sum(plays) FROM statistics WHERE user_id = :user", user=user)
    assert (plays[0][0] or 0) == len(rewards)


def test_several_writers_move_landmarks_at_once(store_url: str) -> None:
    """Four writers, each with a store of its own, whose rewards lie in several epochs."""
    rng = np.random.default_rng(0)
    given = [
        [
            (int(rng.integers(1, 4)), float(rng.normal()), int(rng.integers(-(10**9), 2 * 10**9)))
            for _ in range(6)
        ]
        for _ in range(4 * 50)
    ]
    epochs = {when // (64 * HALF_LIFE) for part in given for _, _, when in part}

    def work(parts: list[Cell]) -> None:
        mine = open_store(store_url)
        for part in parts:
            write(mine, added(1, part))
        mine.close()

    open_store(store_url).close()  # it exists before they come
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, (given[i::4] for i in range(4))))
    store = open_store(store_url)
    every = list(itertools.chain.from_iterable(given))
    check(rows(store, 1), every)
    ((plays, total),) = store.rows("SELECT sum(plays), sum(total) FROM statistics")
    store.close()
    assert len(epochs) > 2
    assert plays == len(every)
    assert total == pytest.approx(sum(reward for _, reward, _ in every))


@given(rewards=REWARDS, cut=st.integers(0, 25))
def test_merged_shards_are_the_whole(rewards: Cell, cut: int) -> None:
    here, there = ({r[1]: Recent(*r[4:]) for r in added(1, part).fading()}
                   for part in (rewards[:cut], rewards[cut:]))  # fmt: skip
    both = {
        arm: here[arm].plus(there[arm]) if arm in here and arm in there else
        here.get(arm) or there[arm]
        for arm in here.keys() | there.keys()
    }  # fmt: skip
    check(both, rewards)


def test_another_half_life_begins_anew_and_all_of_time_stays(store: Store) -> None:
    write(store, added(0, [(1, 2.0, 10), (1, 4.0, 20)]))
    write(store, added(0, [(1, 6.0, 30)], half_life=5_000_000))
    (row,) = store.rows("SELECT * FROM statistics WHERE user_id = 0")
    assert (row.plays, row.total, row.half_life) == (3, 12.0, 5_000_000)
    assert row.weighted / row.weight == pytest.approx(6.0)


def test_landmarks_move_on_however_little_is_left(store: Store) -> None:
    """PostgreSQL refuses products that are too small for a number."""
    user = next(USERS)
    rewards = [(1, 1.0, 5)] + [(1, 0.0, 64 * HALF_LIFE * epoch) for epoch in range(1, 40)]
    rewards += [(2, 1e-300, 5), (2, -1e-310, 64 * HALF_LIFE), (2, 1e-320, 5), (2, 0.0, 10**10)]
    for reward in rewards:
        write(store, added(user, [reward]))
    check(rows(store, user), rewards)


def test_decisions_are_those_of_all_that_is_known(make_service: MakeService) -> None:
    """What is served to users who changed and who did not, and what is explained."""
    orders = lob.LatentOrders.from_rankings([["tea", "milk"], ["milk", "tea"]], ARMS)
    service = make_service(lob.LobTS(orders, 1.0, half_life=DAY), seed=0)
    names = [f"user {i}" for i in range(8)]
    for i, name in enumerate(names):
        late = past("tea", 1.0 + i, 0, 6) + past("milk", 1.0, 0, 3)
        mine = past("tea", 1.5, 30, 9) + past("milk", 1.0, 30, 9) + late
        service.add_history(row | {"user": name, "id": f"{name} {row['id']}"} for row in mine)
    changed = [service.user(name)["changed"] for name in names]
    assert {True, False} == set(changed)
    for some in (names, [n for n, is_so in zip(names, changed, strict=True) if not is_so]):
        for name, made in zip(some, service.decide_many(some), strict=True):
            why = {row["arm"]: row["probability"] for row in service.explain(name)["why"]}
            assert made.probability == pytest.approx(why[made.arm], rel=1e-6)


def policy(**options: Any) -> TS:
    return TS(2, 1.0, arms=ARMS, **{"half_life": DAY, **options})


def past(arm: str, reward: float, days: float, n: int, name: str = "") -> list[dict[str, Any]]:
    """Return rewards of ada, so many days ago."""
    when = time.time() - DAY * days
    return [
        {
            "id": f"{name} {arm} {days} {i}",
            "user": "ada",
            "arm": arm,
            "reward": reward,
            "time": when,
        }
        for i in range(n)
    ]


def test_all_of_time_decides_until_recent_rewards_disagree(make_service: MakeService) -> None:
    service = make_service(policy(), seed=0)
    service.add_history(past("tea", 3.0, 60, 50) + past("milk", 1.0, 60, 20))
    told = service.user("ada")
    assert not told["changed"]
    assert told["recent"] < 1e-9
    assert service.explain("ada")["why"][0]["probability"] > 0.999
    made = [service.decide("ada", allowed=["tea"]) for _ in range(20)]
    service.record_many([(decision.id, 0.0) for decision in made])
    told = service.user("ada")
    assert told["changed"]
    assert told["recent"] == pytest.approx(20.0, abs=0.01)
    assert told["arms"]["tea"]["plays"] == 70
    assert told["arms"]["tea"]["recent"] == pytest.approx(20.0, abs=0.01)
    assert 0.1 < service.explain("ada")["why"][0]["probability"] < 0.9
    assert service.activity()["recent"] == {
        "users": 1,
        "share": pytest.approx(20 / 90, abs=0.001),
        "changed": 1.0,
    }


def test_without_a_half_life_nothing_fades_and_nothing_is_told(service: DecisionService) -> None:
    decision = service.decide("ada")
    service.record(decision.id, 1.0)
    assert service.user("ada").keys() == {"user", "plays", "arms", "features"}
    assert service.activity()["recent"] is None
    (row,) = service.store.rows("SELECT half_life, weight FROM statistics")
    assert tuple(row) == (0, 0.0)


def test_a_late_reward_counts_with_the_time_of_its_decision(make_service: MakeService) -> None:
    service = make_service(policy(forget="always"), seed=0)
    decision = service.decide("ada")
    service.store.execute("UPDATE decisions SET time = time - :days", days=3 * int(DAY * 1e6))
    service.record(decision.id, 1.0)
    assert service.user("ada")["recent"] == pytest.approx(1 / 8, rel=1e-3)
    assert service.user("ada")["plays"] == 1


def test_default_rewards_fade_too(make_service: MakeService) -> None:
    service = make_service(policy(forget="always"), seed=0, reward_wait=0.0)
    service.decide("ada")
    service.store.execute("UPDATE decisions SET time = time - :days", days=int(DAY * 1e6))
    assert service.expire() == 1
    assert service.user("ada")["recent"] == pytest.approx(1 / 2, rel=1e-3)


def test_history_counts_with_its_time_else_as_of_now(make_service: MakeService) -> None:
    service = make_service(policy(), seed=0)
    rows = past("tea", 1.0, 1, 4)
    assert set(service.add_history(rows)) == {"recorded"}
    assert set(service.add_history(rows)) == {"already recorded"}
    untimed = [{k: v for k, v in row.items() if k != "time"} for row in rows]
    assert set(service.add_history(untimed)) == {"already recorded"}
    assert set(service.add_history([rows[0] | {"time": "2020-01-01"}])) == {"conflict"}
    assert service.user("ada")["recent"] == pytest.approx(2.0, rel=1e-3)
    service.add_history([{"id": "now", "user": "ada", "arm": "tea", "reward": 1.0}])
    assert service.user("ada")["recent"] == pytest.approx(3.0, rel=1e-3)
    with pytest.raises(LobInputError, match="a time must be seconds since 1970"):
        service.add_history([rows[0] | {"time": "yesterday"}])


def test_a_model_with_another_half_life_begins_anew(make_service: MakeService) -> None:
    service = make_service(policy(), seed=0)
    service.add_history(past("tea", 3.0, 0, 8) + past("milk", 1.0, 0, 8))
    service.put_model(policy(half_life=2 * DAY))
    assert service.user("ada")["recent"] == 0.0
    assert not service.user("ada")["changed"]
    assert service.explain("ada")["why"][0]["probability"] > 0.999
    service.add_history(past("tea", 3.0, 0, 2, name="later"))
    assert service.user("ada")["recent"] == pytest.approx(2.0, rel=1e-3)
    service.put_model(policy(half_life=None))
    assert "recent" not in service.user("ada")
    assert service.user("ada")["plays"] == 18


def test_problems_have_half_lives_of_their_own(make_service: MakeService) -> None:
    service = make_service(policy(half_life=None), seed=0)
    service.put_model(policy(), "news")
    for problem in (None, "news"):
        made = service.decide("ada", problem=problem)
        service.record(made.id, 1.0)
    assert "recent" not in service.user("ada")
    assert service.user("ada", "news")["recent"] == pytest.approx(1.0, rel=1e-3)
    assert service.forget("ada") == 2
    assert service.store.rows("SELECT * FROM statistics") == []


def test_a_control_group_never_forgets(make_service: MakeService) -> None:
    with pytest.raises(LobInputError, match="a control group are never"):
        Control(policy(), share=0.5)
    never = policy(half_life=None)
    service = make_service(policy(forget="always"), control=Control(never, share=0.5), seed=0)
    service.add_history(
        row | {"user": name, "id": f"{name} {row['id']}"}
        for row in past("tea", 3.0, 90, 20) + past("milk", 1.0, 90, 20)
        for name in map(str, range(20))
    )
    found = {"model": set(), "control": set()}  # type: ignore[var-annotated]
    for user in map(str, range(20)):
        told = service.explain(user)
        found[told["group"]].add(round(told["why"][0]["probability"], 2))
    assert found == {"model": {0.5}, "control": {1.0}}


def test_lobucb_reads_what_has_faded(make_service: MakeService) -> None:
    orders = lob.LatentOrders.from_rankings([["tea", "milk"], ["milk", "tea"]], ARMS)
    service = make_service(lob.LobUCB(orders, 1.0, half_life=DAY, forget="always"), seed=0)
    service.add_history(past("tea", 3.0, 0, 5) + past("tea", 3.0, 1, 5))
    assert service.decide("ada").arm == "milk"  # never tried: its bound is infinite


def test_refusals(make_service: MakeService) -> None:
    for wrong in (0.5, 1e12):
        with pytest.raises(LobInputError, match="from 1 second to 1000 years"):
            make_service(policy(half_life=wrong))
