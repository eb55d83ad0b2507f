from pathlib import Path

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.cli.demo import POLICIES

RUNNER = CliRunner()


def test_the_demo_shows_what_past_users_are_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = RUNNER.invoke(app, ["demo", "--users", "16"])
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line.split()[1:] for line in result.output.splitlines() if line}
    regret = {name: float(rows[name][0]) for name in POLICIES}
    assert min(regret, key=lambda name: regret[name]) == "lobbayes"
    assert f"{1 - regret['lobbayes'] / regret['ts']:.0%} less than TS" in " ".join(
        result.output.split()
    )
    assert f"figure saved to {Path('out/demo.png')}" in result.output
    assert (tmp_path / "out" / "demo.png").read_bytes().startswith(b"\x89PNG")
