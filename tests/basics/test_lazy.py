"""Names that load on first use are those of the stubs, and nothing else."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import lobandits
import lobandits.service

PACKAGES = [lobandits, lobandits.service]


def stub_lines(package: ModuleType) -> list[str]:
    text = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.startswith("from ")]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_listed_once_and_is_its_modules_own(package: ModuleType) -> None:
    names = []
    for line in stub_lines(package):
        _, module, _, name, _, shown = line.split()
        assert name == shown, "a type checker takes no other name as public"
        assert getattr(package, name) is getattr(import_module(module), name)
        names.append(name)
    assert sorted(set(names)) == sorted(names) == package.__all__ == dir(package)


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_refused(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'lob'"):
        package.lob  # noqa: B018


def test_a_name_is_looked_up_once() -> None:
    assert lobandits.UCB is vars(lobandits)["UCB"]


def test_import_needs_nothing_but_python() -> None:
    code = (
        "import sys; before = set(sys.modules); import lobandits\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(tops - sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['lobandits']\n"
