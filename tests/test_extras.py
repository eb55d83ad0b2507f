"""The core needs NumPy and Numba; what more is needed is named with its extra."""

import subprocess
import sys
from pathlib import Path

from lobandits.cli.friendly import BROUGHT_BY

ABSENT = [*BROUGHT_BY["learn"], *BROUGHT_BY["service"], "pandas", "polars", "sklearn"]
OF_THE_SERVICE = {"Client", "DecisionService", "open_store"}


def run(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter in which the extras are not installed."""
    absent = f"import sys\nfor name in {ABSENT!r}:\n    sys.modules[name] = None\n"
    command = [sys.executable, "-c", absent + code, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_name_but_those_of_the_service_is_in_the_core() -> None:
    code = """
import lobandits as lob
lacking = []
for name in lob.__all__:
    try:
        getattr(lob, name)
    except ImportError as error:
        lacking.append(name)
print(" ".join(lacking))
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == OF_THE_SERVICE


def test_a_command_names_the_extra_that_it_needs(tmp_path: Path) -> None:
    logs = tmp_path / "logs.csv"
    logs.write_text("user,arm,reward\n1,a,1\n")
    code = "from lobandits.cli import main\nmain()"
    done = run(code, "learn", str(logs), "--out", str(tmp_path / "model.json"))
    assert done.returncode == 2
    assert "needs the extra 'learn'" in done.stderr
    assert "pip install '.[learn]'" in done.stderr
