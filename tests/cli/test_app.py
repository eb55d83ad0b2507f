"""The command as a whole: help, version, errors, speed."""

import subprocess
import sys
from typing import Any, cast

import pytest
import typer
from typer.testing import CliRunner

from lobandits import __version__
from lobandits.cli import main
from lobandits.cli.app import app
from lobandits.cli.friendly import friendly
from lobandits.errors import LobInputError

RUNNER = CliRunner()
COMMANDS: dict[str, Any] = cast("Any", typer.main.get_command(app)).commands
HEAVY = ("numba", "matplotlib", "polars", "pandas", "scipy", "numpy")


def test_the_commands() -> None:
    assert {"demo", "simulate", "bound"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    for parameter in command.params:
        assert getattr(parameter, "help", None), f"lob {name}: {parameter.name} has no help"
    shown = RUNNER.invoke(app, [name, "--help"], env={"COLUMNS": "80"})
    assert shown.exit_code == 0
    assert "…" not in shown.output, f"lob {name} --help is cut off"
    for option in (o for p in command.params for o in p.opts if o.startswith("--")):
        assert option in shown.output


def test_help_and_version() -> None:
    assert "simulate" in RUNNER.invoke(app, ["--help"]).output
    assert RUNNER.invoke(app, ["--version"]).output == f"lobandits {__version__}\n"
    assert RUNNER.invoke(app, []).exit_code == 2


@pytest.mark.parametrize("words", [[], ["learn"], ["bound"], ["serve"]], ids=" ".join)
def test_help_loads_nothing_heavy(words: list[str]) -> None:
    """Only the help of commands that list the policies must know these."""
    code = f"""
import sys
from lobandits.cli import main
sys.argv = ["lob", *{words!r}, "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
heavy = [name for name in {HEAVY!r} if name in sys.modules]
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_known_errors_are_one_line_and_exit_code_two() -> None:
    result = RUNNER.invoke(app, ["simulate", "--policies", "ubc", "--users", "8"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: unknown policy 'ubc'; did you mean 'ucb'?")
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output


def test_unknown_errors_are_not_hidden() -> None:
    @friendly
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()


def test_errors_of_ours_and_ctrl_c_become_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    @friendly
    def refused() -> None:
        raise LobInputError("no")

    @friendly
    def interrupted() -> None:
        raise KeyboardInterrupt("stopped after 3 s")

    with pytest.raises(typer.Exit) as wrong:
        refused()
    with pytest.raises(typer.Exit) as stopped:
        interrupted()
    assert (wrong.value.exit_code, stopped.value.exit_code) == (2, 130)
    assert capsys.readouterr().err == "error: no\ninterrupted: stopped after 3 s\n"


def test_main_is_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lob", "--version"])
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
