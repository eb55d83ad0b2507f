"""Importing is quick and compiles nothing; kernels are cached on disk where that is possible."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lobandits

PACKAGE = Path(lobandits.__file__).parent

DECIDE = """
import lobandits as lob
from lobandits.statistics.rewards import add_rewards

policy = lob.UCB(2, sigma=1.0)
state = policy.start()
policy.record(state, [0, 1], [1.0, 0.0], users=0)
assert policy.choose(state, 0).tolist() == [0]
"""


def run(code: str, **variables: str | Path) -> str:
    """Run code in a new interpreter that writes no byte code; return what it prints."""
    return process(code, **variables).stdout


def process(code: str, **variables: str | Path) -> "subprocess.CompletedProcess[str]":
    """Run code in a new interpreter that writes no byte code."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=kept | {name: str(value) for name, value in variables.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_import_takes_less_than_half_a_second() -> None:
    code = "import time; t = time.process_time(); import lobandits; print(time.process_time() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.5


def test_import_compiles_nothing() -> None:
    heavy = "{'numba', 'llvmlite', 'scipy', 'matplotlib', 'polars', 'pandas'}"
    assert run(f"import sys, lobandits; print({heavy} & set(sys.modules))") == "set()\n"
    code = (
        "import sys, lobandits.simulation, lobandits.theory\n"
        "from numba.core.dispatcher import Dispatcher\n"
        "mine = [m for name, m in sys.modules.items() if name.startswith('lobandits.')]\n"
        "kernels = {k for m in mine for k in vars(m).values() if isinstance(k, Dispatcher)}\n"
        "print(len(kernels) > 20, [k for k in kernels if k.signatures])\n"
    )
    assert run(code) == "True []\n"


def test_kernels_compile_once_and_are_cached_on_disk(tmp_path: Path) -> None:
    code = DECIDE + "print(sum(add_rewards.stats.cache_hits.values()))"
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "0\n"
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == "1\n"


def test_compiling_is_said_once(tmp_path: Path) -> None:
    first, second = (process(DECIDE, NUMBA_CACHE_DIR=tmp_path).stderr for _ in range(2))
    assert first == "lobandits: compiling its kernels, once on this machine ...\n"
    assert second == ""


@pytest.fixture
def unwritable(tmp_path: Path) -> dict[str, Path]:
    """Return variables under which no folder for a cache can be made, not even by root.

    Where such a folder would be, in a copy of the package and at home, stands a plain file.
    """
    copy = tmp_path / "copy" / "lobandits"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in {path.parent for path in copy.rglob("*.py")}:
        (folder / "__pycache__").touch()
    file = tmp_path / "file"
    file.touch()
    return {"PYTHONPATH": copy.parent, "HOME": file, "XDG_CACHE_HOME": file, "LOCALAPPDATA": file}


def test_kernels_work_where_no_cache_can_be_written(unwritable: dict[str, Path]) -> None:
    code = DECIDE + "print(lob.__file__, add_rewards._cache, sep='\\n')"
    file, cache = run(code, **unwritable).splitlines()
    assert file == str(unwritable["PYTHONPATH"] / "lobandits" / "__init__.py")
    assert "NullCache" in cache


def test_kernels_work_with_a_cache_folder_that_cannot_be_made(unwritable: dict[str, Path]) -> None:
    code = DECIDE + "print(add_rewards._cache)"
    assert "NullCache" in run(code, **unwritable, NUMBA_CACHE_DIR=unwritable["HOME"] / "cache")


def test_kernels_work_when_the_cache_folder_is_lost_after_import(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    lose = "import os, shutil; shutil.rmtree(os.environ['NUMBA_CACHE_DIR']);"
    lose += "open(os.environ['NUMBA_CACHE_DIR'], 'w').close()"
    imports = "import lobandits.statistics.rewards\n"
    assert run(imports + lose + DECIDE + "print('fine')", NUMBA_CACHE_DIR=cache) == "fine\n"
    assert cache.is_file()
