"""The built wheel works without the repository."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

DECIDE = """
import lobandits as lob

assert "installed" in lob.__file__
agent = lob.Agent(lob.UCB(3, sigma=1.0), seed=0)
agent.record(agent.choose(), 1.0)
print(agent)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


def test_wheel_has_all_it_needs(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = (ROOT / "src").rglob("*")
    kept = {path for path in sources if path.is_file() and "__pycache__" not in path.parts}
    assert {path.relative_to(ROOT / "src").as_posix() for path in kept} <= names


def test_wheel_works_elsewhere(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(target)
    for arguments in (["-c", DECIDE], ["-m", "lobandits", "--version"]):
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(target)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout
