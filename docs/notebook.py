"""Make the notebook of the tutorial from its page, and run it.

Run: ``.venv/bin/python docs/notebook.py [OUT]``. By default OUT is ``docs/tutorial.ipynb``.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

PAGE = Path(__file__).parent / "tutorial.md"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def cells(page: str) -> list[nbformat.NotebookNode]:
    """Return the page's text and code; its outputs are left out, the run gives them."""
    made, end = [new_code_cell("%matplotlib inline")], 0
    for fence in FENCE.finditer(page):
        if fence[1] == "sh":
            continue
        made.append(new_markdown_cell(page[end : fence.start()].strip()))
        end = fence.end()
        if fence[1] == "python":
            shown = "\nfigure" if "figure = " in fence[2] else ""
            made.append(new_code_cell(fence[2].strip() + shown))
    made.append(new_markdown_cell(page[end:].strip()))
    made = [cell for cell in made if cell.source]
    for number, cell in enumerate(made):
        cell.id = f"cell-{number}"
    return made


def main(out: Path) -> None:
    """Write the notebook with its outputs; an error in a cell stops it."""
    from nbclient import NotebookClient

    notebook = new_notebook(cells=cells(PAGE.read_text(encoding="utf-8")))
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, out)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE.with_suffix(".ipynb"))
