"""The notebook is that of its page, whose code runs in test_docs: cells, and what they printed."""

import runpy
from itertools import pairwise
from typing import Any

import nbformat
import pytest
from tests.test_docs import DOCS, blocks, same

PAGE = DOCS / "tutorial.md"


@pytest.fixture(scope="module")
def kept() -> list[Any]:
    read: Any = nbformat.read
    cells: list[Any] = read(PAGE.with_suffix(".ipynb"), as_version=4).cells
    return cells


def test_cells_are_those_of_the_page(kept: list[Any]) -> None:
    """To make it anew: ``.venv/bin/python docs/notebook.py``."""
    made = runpy.run_path(str(DOCS / "notebook.py"))["cells"](PAGE.read_text(encoding="utf-8"))
    assert [cell.source for cell in kept] == [cell.source for cell in made]


def test_outputs_are_those_of_the_page(kept: list[Any]) -> None:
    outputs = [cell.outputs for cell in kept if cell.cell_type == "code"]
    page = list(blocks(PAGE))
    follows = {block: after for block, after in pairwise(page) if after.language == "text"}
    codes = [block for block in page if block.language == "python"]
    assert len(outputs) == 1 + len(codes)  # the first cell lets matplotlib draw
    for code, cell in zip(codes, outputs[1:], strict=True):
        if code in follows and not follows[code].after:
            printed = "".join(output.text for output in cell if output.get("name") == "stdout")
            assert same(follows[code].text, printed), printed
    pictures = [o for cell in outputs for o in cell if "image/png" in o.get("data", {})]
    assert len(pictures) == 2
