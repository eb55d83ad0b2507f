"""Set-up for all tests."""

import hashlib
import os
import tempfile
from pathlib import Path

import matplotlib
from hypothesis import HealthCheck, settings

SOURCES = sorted((Path(__file__).parent.parent / "src").rglob("*.py"))

# A kernel inlines the kernels that it calls, and Numba's cache does not notice when those
# change in another file: key the cache by the text of all sources.
digest = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]
os.environ.setdefault(
    "NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"lobandits-kernels-{digest}")
)

matplotlib.use("Agg")

settings.register_profile(
    "default",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("default")
