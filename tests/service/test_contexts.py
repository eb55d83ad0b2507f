"""Decisions in contexts: among a context's arms, on the rewards of all."""

from pathlib import Path

import pytest

import lobandits as lob
import lobandits.service.errors as er
from lobandits.service import DecisionService
from lobandits.service.decision import new_id

DAY = lob.LatentOrders.from_rankings([[0, 1, 2], [2, 1, 0]], ["tea", "milk", "juice"])
NIGHT = lob.LatentOrders.from_rankings([[2, 1, 0], [1, 0, 2]], ["tea", "milk", "juice"])
BOTH = lob.LatentOrders.per_context({"day": DAY, "night": NIGHT})


@pytest.fixture
def service(tmp_path: Path) -> DecisionService:
    return DecisionService(lob.LobTS(BOTH, 1.0), f"sqlite:///{tmp_path}/lob.db", seed=0)


def test_a_decision_is_named_within_its_context(service: DecisionService) -> None:
    decision = service.decide("ada", context="day")
    assert decision.arm in DAY.arms
    service.record(decision.id, 1.0)
    (row,) = service.log()
    assert row.arm == f"day: {decision.arm}"
    assert service.user("ada")["arms"][row.arm]["plays"] == 1


def test_a_repeated_call_is_answered_alike(service: DecisionService) -> None:
    name = new_id()
    first = service.decide("ada", context="day", id=name)
    assert service.decide("ada", context="day", id=name) == first
    assert service.decide("ada", id=name).arm == f"day: {first.arm}"


def test_contexts_and_allowed_arms_in_one_batch(service: DecisionService) -> None:
    day, night, one, free = service.decide_many(
        [
            {"user": "a", "context": "day"},
            {"user": "b", "context": "night"},
            {"user": "c", "context": "night", "allowed": ["juice"]},
            "d",
        ]
    )
    assert day.arm in DAY.arms
    assert night.arm in NIGHT.arms
    assert (one.arm, one.probability) == ("juice", 1.0)
    assert free.arm in BOTH.arms


def test_what_one_context_shows_speaks_for_the_other(service: DecisionService) -> None:
    rewards = {"tea": 0.0, "milk": 2.0, "juice": 4.0}
    for arm in [*rewards] * 10:
        decision = service.decide("ada", allowed=[arm], context="day")
        service.record(decision.id, rewards[arm])
    decision = service.decide("ada", context="night")
    assert decision.arm == "milk"
    assert decision.probability == pytest.approx(1.0, abs=1e-6)
    why = service.explain("ada", context="night")["why"]
    assert [row["arm"] for row in why] == list(BOTH.arms[3:])
    assert len(service.explain("ada")["why"]) == 6


def test_unknown_contexts_and_arms_are_named(service: DecisionService) -> None:
    with pytest.raises(er.UnknownContextError, match=r"unknown context 'noon'.*day, night"):
        service.decide("ada", context="noon")
    with pytest.raises(er.UnknownArmError, match="unknown arm 'night: beer'"):
        service.decide("ada", allowed=["beer"], context="night")
    with pytest.raises(
        er.InvalidRequestError, match="a context must be text of 1 to 256 characters, got int"
    ):
        service.decide("ada", context=3)  # type: ignore[arg-type]
    assert list(service.log()) == []
