"""Policies that cannot come back from the store are refused before anything is written."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.errors import LobInputError
from lobandits.policies import registry
from lobandits.service import DecisionService
from lobandits.service.store.models import arm_numbers, versions

Broken = dict[str, lob.Policy]
REASONS = {
    "nameless": "comes back as UCB",
    "forgetful": "comes back as Forgetful",
    "one way": "no way back",
    "undecided": "no odds",
    "hopeless": "must have an arm with odds above 0",
    "no JSON": "not JSON",
    "unknown": "unknown policy 'unknown'",
}


@pytest.fixture
def broken() -> Iterator[Broken]:
    """Policies that a store could not give back; they are known during one test only."""
    known = dict(registry._classes)

    @dataclass(frozen=True, repr=False, eq=False)
    class Nameless(lob.UCB):
        """Would come back as its parent, whose name it has."""

    @dataclass(frozen=True, repr=False, eq=False)
    class Forgetful(lob.UCB):
        name: ClassVar[str] = "forgetful"

        def to_dict(self) -> dict[str, Any]:
            return super().to_dict() | {"sigma": 1.0}

    @dataclass(frozen=True, repr=False, eq=False)
    class OneWay(lob.UCB):
        name: ClassVar[str] = "oneway"

        @classmethod
        def from_dict(cls, data: Any) -> Any:
            raise ZeroDivisionError("no way back")

    @dataclass(frozen=True, repr=False, eq=False)
    class Undecided(lob.UCB):
        name: ClassVar[str] = "undecided"

        def odds(self, state: Any, allowed: Any) -> Any:
            raise ZeroDivisionError("no odds")

    @dataclass(frozen=True, repr=False, eq=False)
    class Hopeless(lob.UCB):
        name: ClassVar[str] = "hopeless"

        def odds(self, state: Any, allowed: Any) -> Any:
            return np.zeros(state.counts.shape)

    @dataclass(frozen=True, repr=False, eq=False)
    class NoJson(lob.UCB):
        name: ClassVar[str] = "nojson"

        def to_dict(self) -> dict[str, Any]:
            return super().to_dict() | {"sigma": float("nan") if self.sigma > 1 else 1.0}

        @classmethod
        def from_dict(cls, data: Any) -> Any:
            return cls(data["n_arms"], 2.0, arms=tuple(data["arms"]))

    @dataclass(frozen=True, repr=False, eq=False)
    class Unknown(lob.UCB):
        name: ClassVar[str] = "unknown"

    del registry._classes["unknown"]
    classes = (Nameless, Forgetful, OneWay, Undecided, Hopeless, NoJson, Unknown)
    yield dict(zip(REASONS, [cls(1, 2.0) for cls in classes], strict=True))
    registry._classes.clear()
    registry._classes.update(known)


@pytest.mark.parametrize(("kind", "reason"), REASONS.items())
def test_a_refused_policy_leaves_no_trace(
    make_service: MakeService, broken: Broken, kind: str, reason: str
) -> None:
    policy: Any = broken[kind]
    with pytest.raises(LobInputError, match=reason):
        make_service(policy)
    service = make_service(lob.UCB(1, 1.0, arms=("a",)))
    before = service.model
    with pytest.raises(LobInputError, match=reason):
        service.put_model(replace(policy, arms=("new",)))
    assert versions(service.store) == [1]
    assert arm_numbers(service.store) == {"a": 1}
    assert make_service().model == before == service.model


def test_a_refused_policy_makes_no_store(tmp_path: Path, broken: Broken) -> None:
    with pytest.raises(LobInputError, match="no way back"):
        DecisionService(broken["one way"], f"sqlite:///{tmp_path}/lob.db")
    assert not list(tmp_path.iterdir())


def test_a_policy_of_ones_own_is_served_again_after_a_restart(make_service: MakeService) -> None:
    known = dict(registry._classes)

    @dataclass(frozen=True, repr=False, eq=False)
    class Mine(lob.UCB):
        name: ClassVar[str] = "mine"

    first = make_service(Mine(2, 1.0))
    first.decide("u")
    first.close()
    again = make_service()
    assert (again.policy, type(again.policy)) == (Mine(2, 1.0), Mine)
    assert again.decide("u").model == first.model
    registry._classes.clear()
    registry._classes.update(known)
