"""A file comes whole from a server that breaks, pauses, changes and cannot go on."""

import hashlib
from pathlib import Path

import pytest
from tests.learning.server import NAME, Files, get, zips

from lobandits.errors import LobError


def test_a_broken_connection_goes_on_where_it_broke(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    server.breaks = [1000, 500]
    assert get(server, tmp_path).read_bytes() == content
    assert zips(server) == [None, "bytes=1000-", "bytes=1500-"]


def test_a_server_that_gives_nothing_is_given_up_and_the_part_is_kept(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    server.breaks = [1000, *[0] * 10]
    with pytest.raises(LobError, match="only 1,000 bytes came") as caught:
        get(server, tmp_path)
    assert f"put it at {tmp_path / NAME}" in str(caught.value)
    assert not (tmp_path / NAME).exists()
    assert (tmp_path / f"{NAME}.part").read_bytes() == content[:1000]
    server.breaks = []
    assert get(server, tmp_path).read_bytes() == content
    assert zips(server)[-1] == "bytes=1000-"
    assert [file.name for file in tmp_path.glob("ml*")] == [NAME]


def test_a_server_without_ranges_starts_anew(server: Files, content: bytes, tmp_path: Path) -> None:
    server.ranges = False
    server.breaks = [1000]
    assert get(server, tmp_path).read_bytes() == content
    assert zips(server) == [None, "bytes=1000-"]


def test_a_file_that_changed_on_the_server_starts_anew(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    server.breaks = [1000, *[0] * 10]
    with pytest.raises(LobError):
        get(server, tmp_path)
    newer = content + b"more"
    server.breaks, server.tag = [], '"two"'
    server.files = {NAME: newer, f"{NAME}.md5": hashlib.md5(newer).hexdigest().encode()}
    assert get(server, tmp_path).read_bytes() == newer


def test_a_part_that_is_complete_is_only_checked(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(content)
    assert get(server, tmp_path).read_bytes() == content
    assert zips(server) == [f"bytes={len(content)}-"]


def test_a_part_that_is_too_long_is_dropped(server: Files, content: bytes, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(content + b"junk")
    assert get(server, tmp_path).read_bytes() == content
