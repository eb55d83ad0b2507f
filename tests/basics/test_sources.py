"""One list says which sources decide no numbers; it is what the import rules say."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from lobandits.basics import sources
from lobandits.basics.sources import (
    ABOVE_SIMULATION,
    PACKAGE,
    digest_of_sources,
)

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def layers_above_simulation() -> Iterator[str]:
    """Yield the names of the layers from which no simulation imports, as import-linter checks."""
    contracts = tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]
    for layer in contracts[0]["layers"]:
        if layer == "lobandits.simulation":
            return
        yield from re.findall(r"lobandits\.(\w+)", layer)


def test_every_name_listed_exists() -> None:
    assert [name for name in ABOVE_SIMULATION if not (PACKAGE / name).exists()] == []


def test_the_list_is_what_stands_above_the_simulations() -> None:
    entries = {"__init__", "__main__"}
    assert {name.removesuffix(".py") for name in ABOVE_SIMULATION} == {
        *entries,
        *layers_above_simulation(),
    }


def test_nothing_above_the_simulations_holds_a_kernel() -> None:
    for name in ABOVE_SIMULATION:
        place = PACKAGE / name
        for path in [place] if place.is_file() else place.rglob("*.py"):
            assert "lobandits.basics.kernel" not in path.read_text(encoding="utf-8"), path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("__init__.py", "errors.py", "cli/main.py", "learning/logs.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x = 1\n")
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["errors.py", "learning/logs.py", "learning/new.py", "new.py"])
def test_any_other_source_changes_the_digest(package: Path, name: str) -> None:
    before = digest_of_sources()
    (package / name).write_text("x = 2\n")
    assert digest_of_sources() != before


def test_moving_a_source_changes_the_digest(package: Path) -> None:
    before = digest_of_sources()
    (package / "errors.py").rename(package / "exceptions.py")
    assert digest_of_sources() != before


def test_sources_above_count_only_where_they_are_named(package: Path) -> None:
    before, with_cli = digest_of_sources(), digest_of_sources(package / "cli")
    (package / "cli" / "main.py").write_text("x = 2\n")
    (package / "__init__.py").write_text("x = 2\n")
    assert digest_of_sources() == before
    assert digest_of_sources(package / "cli") != with_cli
