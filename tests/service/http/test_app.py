"""Unexpected errors: answered without details, logged with them; and a store that is away."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

import lobandits as lob
from lobandits.service import DecisionService
from lobandits.service.errors import StoreUnavailableError
from lobandits.service.http import create_app


class Broken(DecisionService):
    """A service whose methods fail with ``error``."""

    error: Exception = ZeroDivisionError("secret detail")

    def run(self, calls: list[Any]) -> None:
        for call in calls:
            call.set_exception(self.error)

    def activity(
        self, minutes: int = 60, sample: int = 200, problem: str | None = None
    ) -> dict[str, Any]:
        raise self.error

    def ready(self) -> None:
        raise self.error


def ask(service: DecisionService, method: str, path: str, body: Any = None) -> httpx.Response:
    async def main() -> httpx.Response:
        transport = httpx.ASGITransport(create_app(service), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, json=body)

    return asyncio.run(main())


@pytest.fixture
def broken(tmp_path: Path) -> Broken:
    return Broken(lob.UCB(2, sigma=1.0), f"sqlite:///{tmp_path}/lob.db")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/decisions", {"user": "secret-name"}),
        ("GET", "/v1/activity", None),
        ("GET", "/readyz", None),
    ],
)
class TestFailures:
    def test_unexpected(
        self, broken: Broken, method: str, path: str, body: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO):
            answer = ask(broken, method, path, body)
        assert answer.status_code == 500
        assert answer.json()["error"]["code"] == "internal"
        assert "secret" not in answer.text
        assert "ZeroDivisionError: secret detail" in caplog.text
        assert "secret-name" not in caplog.text
        broken.close()

    def test_store_away(self, broken: Broken, method: str, path: str, body: Any) -> None:
        broken.error = StoreUnavailableError("the store is not available")
        answer = ask(broken, method, path, body)
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "store_unavailable"
        assert int(answer.headers["retry-after"]) > 0
        broken.close()
