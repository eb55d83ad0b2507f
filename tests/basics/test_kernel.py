"""The folder of the kernels' cache changes with every file that has kernels, and with no other."""

from pathlib import Path

import pytest

from lobandits.basics import kernel


@pytest.mark.parametrize(("name", "counts"), [("near.py", True), ("far/deep.py", True),
                                              ("plain.py", False)])  # fmt: skip
def test_kernels_are_cached_by_the_text_of_all_files_with_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, counts: bool
) -> None:
    (tmp_path / "far").mkdir()
    for file in ("near.py", "far/deep.py"):
        (tmp_path / file).write_text("@kernel\ndef f(): ...\n")
    (tmp_path / "plain.py").write_text("x = 1\n")
    monkeypatch.setattr(kernel, "PACKAGE", tmp_path)
    digest = kernel._digest.__wrapped__
    before = digest()
    (tmp_path / name).write_text((tmp_path / name).read_text() + "changed = True\n")
    assert (digest() != before) == counts
