"""Atomic writes."""

import os
import stat
from pathlib import Path
from typing import IO

import pytest

from lobandits._files import write_atomic


def hello(file: IO[bytes]) -> None:
    file.write(b"hello")


def test_a_file_is_written_with_the_usual_rights(tmp_path: Path) -> None:
    path = tmp_path / "file"
    old = os.umask(0o027)
    try:
        assert write_atomic(path, hello) == path
    finally:
        os.umask(old)
    assert path.read_bytes() == b"hello"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(file: IO[bytes]) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, fail)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    link.symlink_to(file)
    write_atomic(link, hello)
    assert link.is_symlink()
    assert file.read_bytes() == b"hello"
