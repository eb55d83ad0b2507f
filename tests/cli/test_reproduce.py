import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.paper import EXPERIMENTS, GROUPS
from lobandits.paper.experiment import Survey


def lob(*words: str) -> Any:
    return CliRunner().invoke(app, ["reproduce", *words])


def test_list_names_everything() -> None:
    done = lob("--list")
    assert done.exit_code == 0
    names = {line.split()[0] for line in done.stdout.splitlines() if line}
    assert set(EXPERIMENTS) | set(GROUPS) <= names


def test_figures_verdicts_and_report(tmp_path: Path) -> None:
    done = lob("figure-1", "rarity", "--out", str(tmp_path), "--seed", "2")
    assert done.exit_code == 0
    assert "holds                   similar-orders-rare" in done.stdout
    assert f"Report: {tmp_path / 'index.html'}" in done.stdout
    assert (tmp_path / "index.html").is_file()


def breaking(seed: int) -> dict[str, Any]:
    """Fail, as a part of an experiment may."""
    raise OSError("no room")


def test_what_broke_is_named_at_the_end_and_the_exit_code_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = (Survey("broken", breaking, {"default": {}}),)
    monkeypatch.setitem(EXPERIMENTS, "rarity", replace(EXPERIMENTS["rarity"], work=work))
    done = lob("figure-1", "rarity", "--out", str(tmp_path))
    assert done.exit_code == 1
    assert done.stderr == "broken: rarity: OSError: no room\n"
    assert "not testable here       similar-orders-rare" in done.stdout


def test_wrong_words_end_with_one_line(tmp_path: Path) -> None:
    for words, what in (
        (["figure-9"], "no experiment 'figure-9'"),
        (["figure-3a", "--movielens", str(tmp_path / "no")], str(tmp_path / "no")),
        (["figure-1", "--workers", "0"], "workers"),
    ):
        done = lob(*words, "--out", str(tmp_path / "out"))
        assert done.exit_code == 2
        assert what in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_was_interrupted_keeps_what_was_done(tmp_path: Path, workers: int) -> None:
    command = [sys.executable, "-m", "lobandits", "reproduce"]
    words = ["figure-2b", "--out", str(tmp_path), "--workers", str(workers)]
    running = subprocess.Popen(
        [*command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("parts/*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode == 130
    assert said == (
        f"interrupted: finished parts are kept in {tmp_path}; the same command goes on from there\n"
    )
    saved = list(tmp_path.glob("parts/*.npz"))
    assert 1 <= len(saved) < len(EXPERIMENTS["figure-2b"].parts("default"))
    assert not list(tmp_path.rglob(".*"))
