"""What is known of users: kept with each, the newest of every name, erased with the user."""

import asyncio
from typing import Any

import httpx
import numpy as np
import pytest
from tests.policies.test_features import ARMS, prior
from tests.service.conftest import MakeService

import lobandits as lob
from lobandits.service.http import create_app


def policy(half_life: float | None = None, **options: Any) -> lob.LobBayes:
    return lob.LobBayes(prior(**options), half_life=half_life)


@pytest.mark.parametrize("half_life", [None, 3600.0])
def test_decisions_are_those_of_the_policy_with_features(
    make_service: MakeService, half_life: float | None
) -> None:
    service = make_service(policy(half_life))
    made = policy(half_life)
    for user, features in (("ann", {"club": "a"}), ("bob", {"club": "b", "age": 22}), ("cy", None)):
        chance = made.probabilities(made.start(1, features=[features or {}]))[0]
        decision = service.decide(user, features=features)
        assert decision.probability == pytest.approx(chance[ARMS.index(decision.arm)])
        why = {row["arm"]: row["probability"] for row in service.explain(user)["why"]}
        np.testing.assert_allclose([why[arm] for arm in ARMS], chance)


def test_the_newest_value_of_every_name_is_kept_and_erased_with_the_user(
    make_service: MakeService,
) -> None:
    service = make_service(policy())
    service.decide("ann", features={"club": "a", "age": 30})
    service.decide_many([
        {"user": "ann", "features": {"club": "b"}}, {"user": "bob"},
        {"user": "ann", "features": {"club": "a"}},
    ])  # fmt: skip
    assert service.user("ann")["features"] == {"club": "a", "age": 30}
    assert service.user("bob")["features"] == {}
    service.forget("ann")
    service.decide("ann")
    assert service.user("ann")["features"] == {}


def test_another_model_takes_what_it_knows(make_service: MakeService) -> None:
    service = make_service(policy(tell=False))
    service.decide("ann", features={"club": "b", "shoe": 42, "new": None, "vip": True})
    service.put_model(policy())
    decision = service.decide("ann")
    made = policy()
    chance = made.probabilities(made.start(features={"club": ["b"]}))[0]
    assert decision.probability == pytest.approx(chance[ARMS.index(decision.arm)])
    assert service.user("ann")["features"]["shoe"] == 42


@pytest.mark.parametrize(
    ("features", "words"),
    [
        ({"clup": "a"}, "unknown feature 'clup'; did you mean 'club'"),
        ({"club": ["a"]}, "features must be text, numbers, true, false or null"),
        ({"": 1}, "features must be text"),
        ([1], "features must be text"),
        ({f"f{i}": i for i in range(101)}, "features must be text"),
    ],
)
def test_wrong_features_are_refused_and_nothing_is_written(
    make_service: MakeService, features: Any, words: str
) -> None:
    service = make_service(policy())
    with pytest.raises(lob.LobInputError, match=words) as caught:
        service.decide("ann", features=features)
    assert caught.value.code == "invalid_features"  # type: ignore[attr-defined]
    with pytest.raises(lob.LobError, match="no decision was made"):
        service.user("ann")


def test_over_http_with_a_metric_of_what_says_nothing(make_service: MakeService) -> None:
    app = create_app(make_service(policy()))

    async def ask(method: str, path: str, body: Any = None) -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, json=body)

    async def main() -> None:
        body = {"user": "ann", "features": {"club": "zz", "age": 30}}
        assert (await ask("POST", "/v1/decisions", body)).status_code == 200
        known = await ask("GET", "/v1/users/ann")
        assert known.json()["features"] == {"club": "zz", "age": 30}
        metrics = (await ask("GET", "/metrics")).text
        assert 'lob_silent_features_total{feature="club",problem="default"} 1.0' in metrics
        assert 'feature="age"' not in metrics
        wrong = await ask("POST", "/v1/decisions", {"user": "ann", "features": {"clup": 1}})
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "invalid_features")

    asyncio.run(main())
