"""The sources that decide numbers: what the caches of kernels and of finished parts must notice.

Imports point down only, so nothing above the simulations can change what a simulation finds, and
nothing that a file does not import can change its kernels.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent.parent
ABOVE_SIMULATION = (
    "__init__.py", "__main__.py", "cli", "service", "paper", "evaluation",
)  # fmt: skip
"""Files and folders of the package that stand above ``simulation``."""
_IMPORT = re.compile(r"^\s*(?:from|import) lobandits\.?([\w.]*)(?: import (\w+)$)?", re.MULTILINE)


def digest_of_sources(*folders: Path) -> str:
    """Return a hash of every source that decides numbers, and of all sources in ``folders``."""
    return _digest(
        path
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in ABOVE_SIMULATION
        or any(folder in path.parents for folder in folders)
    )


def digest_with_imports(source: Path) -> str:
    """Return a hash of ``source`` and of every source of ours that it imports, near or far."""
    found: set[Path] = set()
    waiting = {source}
    while waiting:
        path = waiting.pop()
        found.add(path)
        waiting |= _imported(path) - found
    return _digest(found)


@cache
def _imported(source: Path) -> frozenset[Path]:
    """Return the files of the modules that one source imports; of a package all its files."""
    return frozenset(
        path
        for module, name in _IMPORT.findall(source.read_text(encoding="utf-8"))
        for path in _files_of(PACKAGE.joinpath(*module.split(".")), name)
    )


def _files_of(module: Path, name: str) -> Iterator[Path]:
    """Yield the file of ``from module import name``, or the files of a package."""
    for file in (module.with_suffix(".py"), module / f"{name}.py"):
        if file.is_file():
            yield file
            return
    yield from module.rglob("*.py")


def _digest(sources: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources):
        place = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name
        digest.update(str(place).encode() + path.read_bytes())
    return digest.hexdigest()[:16]
