"""Downloading an edition: checked, resumed, refused."""

from pathlib import Path

import pooch
import pytest
from tests.paper.movielens.server import N_RATINGS, NAME, Files, get, zips

from lobandits.errors import LobError, LobInputError
from lobandits.paper.movielens import load_movielens
from lobandits.paper.movielens.download import default_folder, download_movielens


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lose little of what came, do not wait before a retry, and say nothing."""
    monkeypatch.setattr("lobandits.paper.movielens.download.PIECE_BYTES", 100)
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    pooch.get_logger().setLevel("ERROR")


def test_a_download_is_checked_named_and_not_repeated(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    steps: list[tuple[int, int | None]] = []
    folder = tmp_path / "cache" / "deep"
    path = download_movielens(
        "movielens-20m", folder, server.url, lambda done, total: steps.append((done, total))
    )
    assert path == folder / NAME
    assert path.read_bytes() == content
    assert steps[-1] == (len(content), len(content))
    assert [file.name for file in folder.iterdir()] == [NAME]
    assert load_movielens(path).n_ratings == N_RATINGS
    asked = len(server.requests)
    assert get(server, folder) == path
    assert len(server.requests) == asked


def test_a_wrong_sum_deletes_the_file(server: Files, content: bytes, tmp_path: Path) -> None:
    server.files[f"{NAME}.md5"] = b"0" * 32
    with pytest.raises(LobError, match=r"arrived damaged: .*hash"):
        get(server, tmp_path)
    assert not list(tmp_path.glob("ml*"))


def test_a_part_of_something_else_is_dropped(server: Files, content: bytes, tmp_path: Path) -> None:
    part = tmp_path / f"{NAME}.part"
    for wrong in (b"wrong" * 20, content + b"junk"):
        part.write_bytes(wrong)
        assert get(server, tmp_path).read_bytes() == content
        (tmp_path / NAME).unlink()


def test_without_a_sum_the_zip_checks_itself(server: Files, content: bytes, tmp_path: Path) -> None:
    del server.files[f"{NAME}.md5"]
    assert get(server, tmp_path / "good").read_bytes() == content
    middle = len(content) // 2
    server.files[NAME] = content[:middle] + b"?" + content[middle + 1 :]
    with pytest.raises(LobError, match=r"arrived damaged: .* is no whole zip"):
        get(server, tmp_path / "bad")
    assert not list((tmp_path / "bad").iterdir())


def test_a_missing_file_and_no_server_say_what_to_do(server: Files, tmp_path: Path) -> None:
    with pytest.raises(LobError, match="404") as missing:
        download_movielens("movielens-1m", tmp_path, server.url)
    url = server.url
    server.shutdown()
    server.server_close()
    with pytest.raises(LobError, match="cannot download") as absent:
        download_movielens("movielens-1m", tmp_path, url)
    for caught in (missing, absent):
        assert f"put it at {tmp_path / 'ml-1m.zip'}" in str(caught.value)
        assert f"{url}/ml-1m.zip" in str(caught.value)
    assert not list(tmp_path.glob("ml*"))


def test_wrong_names_and_places(tmp_path: Path) -> None:
    with pytest.raises(LobInputError, match="did you mean 'movielens-20m'"):
        download_movielens("movielens-20", tmp_path)
    with pytest.raises(LobError, match="cannot download file:///etc"):
        download_movielens("movielens-20m", tmp_path, "file:///etc")
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(LobError, match="cannot write"):
        download_movielens("movielens-20m", file / "folder")


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "lobandits"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    assert default_folder() == Path.home() / ".cache" / "lobandits"


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
    with pytest.raises(LobError, match="cannot download") as caught:
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


def test_a_part_that_is_complete_is_only_checked(
    server: Files, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / f"{NAME}.part").write_bytes(content)
    assert get(server, tmp_path).read_bytes() == content
    assert zips(server) == [f"bytes={len(content)}-"]
