"""Models: swapped while serving, followed by other processes, arms kept by name."""

import logging
from unittest.mock import ANY

import numpy as np
import pytest
from sqlalchemy import delete, update
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.service import DecisionService
from lobandits.service import current_model as module
from lobandits.service import errors as er
from lobandits.service.current_model import rollback
from lobandits.service.store import tables
from lobandits.service.store.models import newest_version, withdraw


def ucb(*arms: str) -> lob.UCB:
    return lob.UCB(len(arms), 1.0, arms=arms)


def test_arms_are_kept_by_name(make_service: MakeService) -> None:
    service = make_service(ucb("a", "b", "c"), seed=0)
    old = service.decide_many(["u"] * 60)
    service.record_many([(d.id, float(ord(d.arm))) for d in old[:50]])
    before = service.user("u")["arms"]
    first = service.model
    assert service.put_model(ucb("d", "c", "a")) == service.model != first
    after = service.user("u")["arms"]
    assert after.pop("d") == {"plays": 0, "mean": None}
    assert after == before
    told = service.explain("u")
    assert [row["plays"] for row in told["why"]] == [0, before["c"]["plays"], before["a"]["plays"]]
    assert service.decide("u").arm == "d"
    with pytest.raises(er.UnknownArmError):
        service.decide("u", ["b"])
    assert service.record_many([(d.id, 1.0) for d in old[50:]]) == ["recorded"] * 10
    assert service.user("u")["plays"] == 60
    assert {row.model for row in service.log()} == {first, service.model}
    service.put_model(ucb("a", "b", "c"))
    assert sum(cell["plays"] for cell in service.user("u")["arms"].values()) == 60


def test_the_same_policy_is_the_same_model(make_service: MakeService, policy: lob.LobTS) -> None:
    one = make_service(policy)
    assert make_service(policy).model == one.model
    assert one.put_model(policy) == one.model
    assert make_service().policy == policy
    assert newest_version(one.store) == 1
    other = one.put_model(ucb("a"))
    assert one.put_model(policy) not in (other, "1")
    assert newest_version(one.store) == 3


def test_others_follow_without_being_told(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", NEVER)
    one, two = make_service(ucb("a", "b")), make_service()
    assert two.model == one.model
    one.put_model(ucb("c"))
    assert two.decide("u").arm in "ab"
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    decision = two.decide("u")
    assert (decision.arm, decision.model) == ("c", one.model)
    assert two.record(decision.id, 1.0) == "recorded"
    assert one.user("u")["arms"]["c"]["plays"] == 1


@pytest.mark.parametrize("ask", ["ready", "activity"])
def test_those_who_only_ask_follow_too(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch, ask: str
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    one, two = make_service(ucb("a")), make_service()
    one.put_model(ucb("b"))
    getattr(two, ask)()
    assert two.model == one.model


def test_a_stored_decision_of_a_model_not_seen_yet(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", NEVER)
    one, two = make_service(ucb("a", "b")), make_service()
    one.put_model(ucb("z"))
    decision = one.decide("u")
    assert two.decide("u", id=decision.id) == decision
    assert [row.arm for row in two.log()] == ["z"]
    assert two.user("u")["arms"] == {"a": NOTHING, "b": NOTHING}
    two.record(decision.id, 2.0)
    assert two.user("u")["arms"]["z"] == {"plays": 1, "mean": 2.0}
    assert set(two.activity()["arms"]) == {"a", "b", "z"}
    assert two.decide("u").arm in "ab"


NOTHING = {"plays": 0, "mean": None}
NEVER = 1e9  # seconds


def spoil(service: DecisionService, version: int, policy: str = '{"policy": "new"}') -> None:
    """Replace a stored policy by one that nobody knows."""
    with service.store.engine.begin() as connection:
        wrong = tables.models.c.version == version
        connection.execute(update(tables.models).where(wrong).values(policy=policy))


def test_a_model_that_cannot_be_read_is_not_followed(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, two = make_service(ucb("a")), make_service()
    two.put_model(ucb("b"))
    spoil(two, 2)
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    with caplog.at_level(logging.ERROR):
        assert one.decide("u").arm == "a"
        assert one.decide("u").arm == "a"
    assert caplog.text.count("unknown policy 'new'") == 1
    with pytest.raises(er.UnreadableModelError, match="unknown policy"):
        one.reload()
    two.put_model(ucb("c"))
    assert one.decide("u").arm == "c"


@pytest.mark.parametrize("text", ['{"policy": "new"}', "{", '{"policy": "ucb"}', "[1]"])
def test_a_store_whose_newest_model_cannot_be_read_goes_on_with_the_one_before_it(
    make_service: MakeService, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    service = make_service(ucb("a"))
    first, name = service.model, service.put_model(ucb("b"))
    spoil(service, 2, text)
    another = make_service()
    assert (another.model, another.decide("u").arm) == (first, "a")
    assert another.unreadable == [name]
    (record,) = (r for r in caplog.records if r.name.startswith("lobandits.service"))
    message = record.getMessage()
    assert message.startswith(f"going on with model {first}: model {name} of ")
    assert message.endswith(f"lob model rollback --store {service.store.url}")
    rollback(service.store)
    assert make_service().unreadable == []


@pytest.mark.parametrize("text", ['{"policy": "new"}', "{", '{"policy": "ucb"}', "[1]"])
def test_a_store_whose_only_model_cannot_be_read_names_it(
    make_service: MakeService, text: str
) -> None:
    service = make_service(ucb("a"))
    spoil(service, 1, text)
    with pytest.raises(er.UnreadableModelError, match=f"model {service.model} of "):
        make_service()


def test_a_model_with_an_arm_that_the_store_does_not_know(
    make_service: MakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = make_service(ucb("a"))
    first = service.model
    name = service.put_model(ucb("b"))
    with service.store.engine.begin() as connection:
        connection.execute(delete(tables.arms).where(tables.arms.c.name == "b"))
    another = make_service()
    assert (another.model, another.unreadable) == (first, [name])
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    another.rollback()
    assert another.decide("u").arm == "a"
    assert another.unreadable == []


def test_going_back(make_service: MakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POLL_SECONDS", -1.0)
    one, two = make_service(ucb("a")), make_service()
    names = [one.model, *(one.put_model(ucb(arm)) for arm in "bc")]
    assert [one.decide("u").model, two.decide("u").model] == [names[2]] * 2
    assert one.rollback() == one.model == names[1]
    assert two.decide("u") == (ANY, "b", 1.0, names[1])
    assert two.rollback() == names[0]
    with pytest.raises(er.NoEarlierModelError, match="has no earlier model"):
        one.rollback()
    assert one.decide("u").arm == "a"
    again = one.put_model(ucb("c"))
    assert again == f"4-{names[2].partition('-')[2]}"
    assert one.rollback() == names[0]
    assert [row.model for row in one.log()][:2] == [names[2]] * 2
    assert make_service(ucb("a")).model == names[0]


def test_going_back_passes_over_what_cannot_be_read(make_service: MakeService) -> None:
    service = make_service(ucb("a"))
    first = service.model
    for arm in "bcd":
        service.put_model(ucb(arm))
    for version in (2, 3):
        spoil(service, version)
    assert rollback(service.store).name == first
    assert rollback_of_nothing(service) == first
    assert make_service().model == first


def rollback_of_nothing(service: DecisionService) -> str:
    """Return the model after a rollback that must be refused."""
    with pytest.raises(er.NoEarlierModelError):
        rollback(service.store)
    return service.reload()


def test_going_back_in_two_processes_at_once_goes_back_once(make_service: MakeService) -> None:
    one = make_service(ucb("a"))
    for arm in "bc":
        one.put_model(ucb(arm))
    withdraw(one.store, [3])
    withdraw(one.store, [3])
    assert one.reload().startswith("2-")


def test_a_seed_repeats_the_choices(make_service: MakeService, policy: lob.LobTS) -> None:
    one, two = make_service(policy, seed=7), make_service(policy, seed=7)
    names = [f"u{i}" for i in range(50)]
    assert [d.arm for d in one.decide_many(names)] == [d.arm for d in two.decide_many(names)]
    different = make_service(policy).decide_many(names)
    assert len({d.arm for d in different}) == 3
    assert np.mean([d.probability for d in different]) == pytest.approx(1 / 3)
