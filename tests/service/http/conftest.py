"""Two servers for all tests here: one without keys, one with both."""

from collections.abc import Iterator

import pytest
from tests.service.http.running import KEYS, Running, running


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("open")) as found:
        yield found


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    key = {"Authorization": f"Bearer {KEYS['LOB_ADMIN_KEY']}"}
    with running(tmp_path_factory.mktemp("guarded"), **KEYS) as found:
        found.http.get("/v1/activity", headers=key)  # compiles what reports need
        yield found
