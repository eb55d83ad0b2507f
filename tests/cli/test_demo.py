from pathlib import Path

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.cli.policies import playable

RUNNER = CliRunner()


def test_the_demo_shows_every_policy_and_names_its_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(app, ["demo", "--users", "16"])
    assert result.exit_code == 0, result.output
    for name in playable(prior=False):
        assert any(line.startswith(f"{name} ") for line in result.output.splitlines())
    assert "lower bound: c log T" in result.output
    assert f"figure saved to {Path('out/demo.png')}" in result.output
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")
