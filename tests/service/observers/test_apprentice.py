"""The apprentice: what the caller shows is recorded, and what the model would have shown."""

import pytest
from tests.service.conftest import MakeService
from tests.service.observers.test_control_group import ARMS, popular

import lobandits as lob


def test_an_apprentice_records_what_the_caller_shows(
    make_service: MakeService,
) -> None:
    service = make_service(popular(*ARMS), seed=0)
    for i in range(40):
        shown = "tea" if i % 4 else "milk"
        decision = service.decide(f"user {i}", shown=shown)
        assert (decision.arm, decision.probability) == (shown, float(shown == "tea"))
        service.record(decision.id, 1.0 if shown == "tea" else 0.0)
    assert service.user("user 0")["arms"]["milk"] == {"plays": 1, "mean": 0.0}
    advice = service.comparison()["advice"]
    assert advice["decisions"] == 40
    assert advice["changed"] == 0.25
    assert advice["agreed"] == {"decisions": 30, "rewards": 30, "mean": 1.0}
    assert advice["changes"] == [{"shown": "milk", "advised": "tea", "decisions": 10, "mean": 0.0}]
    rows = list(service.log())
    assert {row.group for row in rows} == {"caller"}
    assert {row.advised for row in rows} == {"tea"}
    with pytest.raises(lob.LobInputError, match="wine"):
        service.decide("ada", shown="wine")
    key = "0" * 32
    assert service.decide("eve", shown="milk", id=key) == service.decide(
        "eve", shown="milk", id=key
    )
    assert service.comparison()["advice"]["decisions"] == 41
