"""The files that the documents name are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PLACEHOLDER = "NAME.py"


@pytest.mark.parametrize(
    "page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/extend.md", "docs/paper-to-code.md"]
)
def test_every_file_that_is_named_exists(page: str) -> None:
    folders = [ROOT / name for name in ("src", "tests", "docs", "benchmarks", "examples")]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    known = [f"/{path.relative_to(ROOT).as_posix()}" for path in files]
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", (ROOT / page).read_text(encoding="utf-8")))
    missing = {
        name
        for name in named
        if not name.endswith(PLACEHOLDER) and not any(k.endswith(f"/{name}") for k in known)
    }
    assert not missing
