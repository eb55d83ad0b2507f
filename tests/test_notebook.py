"""The notebook runs, and says what the page says."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent / "docs"


def read(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return cells


def test_notebook_runs_and_is_that_of_the_page(tmp_path: Path) -> None:
    """To make it anew: ``.venv/bin/python docs/notebook.py``."""
    made = tmp_path / "tutorial.ipynb"
    subprocess.run([sys.executable, str(DOCS / "notebook.py"), str(made)], check=True)
    kept, new = read(DOCS / "tutorial.ipynb"), read(made)
    assert [cell["source"] for cell in kept] == [cell["source"] for cell in new]
    kinds = [output["output_type"] for cell in new for output in cell.get("outputs", ())]
    assert "stream" in kinds
    assert "error" not in kinds
    pictures = [
        o for cell in new for o in cell.get("outputs", ()) if "image/png" in o.get("data", {})
    ]
    assert len(pictures) == 2
