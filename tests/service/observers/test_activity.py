"""Activity: decisions and rewards by minute, of arms, groups and models."""

import pytest

from lobandits.errors import LobInputError
from lobandits.service import DecisionService


def test_activity_adds_up(service: DecisionService) -> None:
    decisions = service.decide_many([f"u{i}" for i in range(30)])
    service.record_many([(d.id, 2.0) for d in decisions[:12]])
    report = service.activity(minutes=5)
    assert len(report["minutes"]) == 5
    assert sum(report["decisions"]) == 30
    assert sum(report["rewards"]) == 12
    assert set(report["arms"]) == {"tea", "milk", "juice"}
    for series in report["arms"].values():
        assert {mean for mean in series["mean"] if mean is not None} <= {2.0}
    assert sum(s["decisions"][-1] for s in report["arms"].values()) == report["decisions"][-1]
    assert report["certainty"]["of"] == "state"
    assert report["certainty"]["users"] == 30
    for wrong in (0, 10**9, 1.5):
        with pytest.raises(LobInputError, match="minutes must be"):
            service.activity(wrong)  # type: ignore[arg-type]
