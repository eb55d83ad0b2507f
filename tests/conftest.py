"""Set-up for all tests."""

import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")

settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files run in an order that leaves no processor idle, whoever takes the next one.

    Whole flows, the longest, come first. Tests of servers, which wait, stand evenly among those
    that compute.
    """
    tests = Path(__file__).parent
    flows = [path for path in dict.fromkeys(item.path for item in items) if path.parent == tests]
    place: dict[Path, float] = dict.fromkeys(flows, 0.0)
    rest = [path for path in dict.fromkeys(item.path for item in items) if path not in place]
    servers = [path for path in rest if tests / "service" in path.parents]
    for group in servers, [path for path in rest if path not in servers]:
        place |= {path: (i + 1) / len(group) for i, path in enumerate(group)}
    items.sort(key=lambda item: place[item.path])


@pytest.fixture
def forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Forget, after a test, the policies that it defined and the code that it imported."""
    from lobandits.policies import registry

    monkeypatch.setattr(registry, "_classes", dict(registry._classes))
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("lob_import_"):
            del sys.modules[name]
