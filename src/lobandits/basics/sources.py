"""The sources that decide numbers: what the cache of finished parts must notice.

Imports point down only, so nothing above the simulations can change what a simulation finds.
"""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
ABOVE_SIMULATION = (
    "__init__.py", "__main__.py", "cli", "service", "paper", "evaluation",
)  # fmt: skip
"""Files and folders of the package that stand above ``simulation``."""


def digest_of_sources(*folders: Path) -> str:
    """Return a hash of every source that decides numbers, and of all sources in ``folders``."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in ABOVE_SIMULATION or any(f in path.parents for f in folders):
            digest.update(str(place).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
