"""Atomic writes, and JSON files with a format and a version."""

import json
import os
import stat
from pathlib import Path
from typing import IO, Any

import pytest

from lobandits import LobInputError
from lobandits.basics.files import check_versioned, read_versioned, write_atomic, write_versioned

FIELDS = {"arms": ["thé", "b"], "states": [[1, 2], []], "sigma": None}


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


def test_a_file_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_versioned(path, "lobandits.test", 3, FIELDS)
    found = read_versioned(path, "lobandits.test", 4, FIELDS, "a test")
    assert found == {"format": "lobandits.test", "version": 3, **FIELDS}
    assert json.loads(path.read_text(encoding="utf-8")) == found
    assert [file.name for file in tmp_path.iterdir()] == ["file.json"]


def test_a_person_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_versioned(path, "lobandits.test", 1, FIELDS, rows=["states"])
    assert path.read_text(encoding="utf-8") == (
        "{\n"
        '  "format": "lobandits.test",\n'
        '  "version": 1,\n'
        '  "arms": ["thé", "b"],\n'
        '  "states": [\n'
        "    [1, 2],\n"
        "    []\n"
        "  ],\n"
        '  "sigma": null\n'
        "}\n"
    )


DATA = {"format": "lobandits.test", "version": 2, "arms": [], "more": 1}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([DATA], "expected an object with the fields format, version, arms: a test$"),
        (None, "expected an object with"),
        ({**DATA, "format": "x"}, "format is 'x'; expected 'lobandits.test', a test$"),
        ({**DATA, "format": None}, "format is None; expected"),
        ({}, "the field 'format' is missing; expected a test$"),
        ({"format": "lobandits.test", "arms": []}, "the field 'version' is missing"),
        ({"format": "lobandits.test", "version": 9}, "the field 'arms' is missing"),
        ({**DATA, "version": 0}, "version is 0; expected the number 2"),
        ({**DATA, "version": True}, "version is True; expected"),
        ({**DATA, "version": "2"}, "version is '2'; expected"),
        ({**DATA, "version": 3}, "version 3 is newer than 2, the newest that this .*; upgrade"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, data: Any, message: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(data))
    with pytest.raises(LobInputError, match=rf"mine\.json: {message}"):
        read_versioned(path, "lobandits.test", 2, ["arms"], "a test")


def test_other_fields_are_left_to_the_caller() -> None:
    assert check_versioned(DATA, "here", "lobandits.test", 2, ["arms"], "a test") is DATA
