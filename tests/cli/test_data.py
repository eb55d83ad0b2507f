"""``lob data``: lists, downloads from a real server, goes on, and says what to do without one."""

import hashlib
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.paper.movielens.editions import write_csv, zipped
from tests.paper.movielens.server import Files, serving
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.paper.movielens import load_movielens
from lobandits.paper.movielens.editions import EDITIONS

RUNNER = CliRunner()
NAME = "ml-latest-small.zip"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Files]:
    stars = np.random.default_rng(0).integers(1, 11, 20_000) / 2
    ratings = [(1, 10, star) for star in stars.tolist()]
    content = zipped(write_csv(tmp_path / "made" / "ml-latest-small", ratings)).read_bytes()
    with serving({NAME: content, f"{NAME}.md5": hashlib.md5(content).hexdigest().encode()}) as s:
        yield s


def test_without_a_name_it_lists_the_editions(tmp_path: Path) -> None:
    (tmp_path / "ml-1m.zip").touch()
    result = RUNNER.invoke(app, ["data", "--folder", str(tmp_path)])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert [line.split()[0] for line in lines[: len(EDITIONS)]] == list(EDITIONS)
    assert [line.endswith("  here") for line in lines[: len(EDITIONS)]].count(True) == 1
    assert f"folder: {tmp_path}" in result.output
    assert "licence" in result.output


def test_a_download_says_where_it_is_and_how_to_load_it(
    server: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LOB_MOVIELENS_URL", server.url)
    path = tmp_path / "lobandits" / NAME
    result = RUNNER.invoke(app, ["data", "movielens-latest-small"])
    assert result.exit_code == 0, result.output
    assert f"saved: {path}" in result.output
    assert f"lob.load_movielens({str(path)!r})" in result.output
    assert load_movielens(path).n_ratings == 20_000
    asked = len(server.requests)
    again = RUNNER.invoke(app, ["data", "movielens-latest-small"])
    assert f"already there: {path}" in again.output
    assert len(server.requests) == asked


def test_errors_are_one_line_with_what_to_do(server: Files, tmp_path: Path) -> None:
    options = ["--folder", str(tmp_path), "--url", server.url]
    missing = RUNNER.invoke(app, ["data", "movielens-1m", *options])
    assert missing.exit_code == 2
    assert "404" in missing.stderr
    assert f"put it at {tmp_path / 'ml-1m.zip'}" in missing.stderr
    unknown = RUNNER.invoke(app, ["data", "movielens-20", *options])
    assert unknown.exit_code == 2
    assert "did you mean 'movielens-20m'" in unknown.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_keeps_what_came_and_the_next_call_goes_on(server: Files, tmp_path: Path) -> None:
    content = server.files[NAME]
    server.pause_after = 4096
    options = ["data", "latest-small", "--folder", str(tmp_path), "--url", server.url]
    child = subprocess.Popen(
        [sys.executable, "-c", "from lobandits.cli import main; main()", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.paused.wait(60)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    server.go_on.set()
    assert child.returncode == 130, errors
    assert "are kept; start again to go on" in errors
    assert "Traceback" not in errors
    assert not (tmp_path / NAME).exists()
    server.pause_after = None
    result = RUNNER.invoke(app, options)
    assert result.exit_code == 0, result.output
    assert (tmp_path / NAME).read_bytes() == content
