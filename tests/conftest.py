"""Set-up for all tests."""

import sys
from collections.abc import Iterator

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
