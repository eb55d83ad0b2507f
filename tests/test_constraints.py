"""The versions that are tested: plain lines, and none below what we say we need."""

import re
from pathlib import Path

from packaging.version import Version
from tests.lowest import lowest

LINES = (Path(__file__).parent.parent / "constraints.txt").read_text(encoding="utf-8").splitlines()


def test_constraints_are_plain_lines() -> None:
    """Names and versions only: no addresses, no options."""
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+]+", line) for line in LINES)
    assert sorted(LINES, key=str.lower) == LINES


def test_what_is_tested_is_what_may_be_installed() -> None:
    pinned = dict(map(read, LINES))
    for name, version in map(read, lowest()):
        assert pinned[name] >= version


def read(line: str) -> tuple[str, Version]:
    name, version = line.split("==")
    return re.sub(r"[_.]", "-", name.lower()), Version(version)
