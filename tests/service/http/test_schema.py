"""The OpenAPI description holds: whatever fits it or does not, the answers are as described."""

from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import Case
from schemathesis.specs.openapi.checks import positive_data_acceptance
from tests.service.http.running import KEYS, Running, some_app

HEADERS = {"Authorization": f"Bearer {KEYS['LOB_ADMIN_KEY']}"}
DOCUMENT: dict[str, Any] = some_app().openapi()
STORED = (
    "/v1/decisions", "/v1/decisions/batch", "/v1/history", "/v1/model", "/v1/model/rollback",
    "/v1/users/{user}",
)  # fmt: skip
"""Paths where well-formed requests may name what does not exist: an arm, a context, a policy."""

SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@SCHEMA.parametrize()  # type: ignore[untyped-decorator]
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_described(case: Case, guarded: Running) -> None:
    known = [positive_data_acceptance] if case.path in STORED else []
    case.call_and_validate(base_url=guarded.url, headers=HEADERS, excluded_checks=known)


def test_the_server_describes_itself(guarded: Running) -> None:
    assert guarded.http.get("/openapi.json", headers=HEADERS).json() == DOCUMENT
    for path, methods in DOCUMENT["paths"].items():
        for operation in methods.values():
            assert operation["description"], path
            assert {"200", "401", "403", "413", "500"} <= set(map(str, operation["responses"]))
    for name in ("DecisionRequest", "RewardReport", "DecisionAnswer"):
        fields = DOCUMENT["components"]["schemas"][name]["properties"]
        assert all("examples" in str(field) for field in fields.values())
