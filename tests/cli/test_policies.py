"""Policies from files and modules, on the command line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.cli.policies import import_policies, policy_names
from lobandits.errors import LobInputError
from lobandits.policies import POLICIES
from lobandits.simulation import Result

pytestmark = pytest.mark.usefixtures("forgotten")
RUNNER = CliRunner()
MINE = '''
from dataclasses import dataclass, field
from lobandits.policies import Policy

@dataclass(frozen=True)
class Mine(Policy):
    """Any arm."""

    name = "{name}"
    n_arms: int
    arms: tuple[str, ...] = field(default=(), kw_only=True)

    def odds(self, state, allowed):
        return 1.0 * allowed.repeat(state.n_users // len(allowed), axis=0)
'''
SMALL = ["--arms", "4", "--states", "3", "--horizon", "20", "--users", "16"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a file with a policy, in the folder where the command runs."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.py"
    file.write_text(MINE.format(name="mine"))
    return file


def test_a_file_makes_its_policies_known(mine: Path) -> None:
    assert import_policies(str(mine)) == ["mine"]
    assert POLICIES["mine"].__name__ == "Mine"
    assert import_policies(str(mine)) == ["mine"]


def test_a_module_makes_its_policies_known(mine: Path) -> None:
    package = mine.parent / "some_policies"
    package.mkdir()
    (package / "__init__.py").write_text("from some_policies import inner\n")
    (package / "inner.py").write_text(MINE.format(name="inner"))
    assert import_policies("some_policies", "mine.py") == ["inner", "mine"]


def test_what_defines_no_policy_is_refused(mine: Path) -> None:
    mine.write_text("x = 1\n")
    with pytest.raises(LobInputError, match=r"mine\.py defines no policy; a policy is a subclass"):
        import_policies("mine.py")


def test_a_name_that_is_taken_is_refused_with_both_places(mine: Path) -> None:
    mine.write_text(MINE.format(name="ucb"))
    with pytest.raises(LobInputError, match=r"two policies have the name 'ucb': .*ucb\.py.*mine"):
        import_policies("mine.py")
    assert POLICIES["ucb"].__name__ == "UCB"


def test_simulate_takes_policies_from_files(mine: Path) -> None:
    out = mine.parent / "result.npz"
    options = ["--import", str(mine), "--policies", "mine,ucb", "--out", str(out)]
    result = RUNNER.invoke(app, ["simulate", *SMALL, *options])
    assert result.exit_code == 0, result.output
    found = Result.load(out)
    assert found.policies == ("mine", "ucb")
    assert found.totals["mine"].mean() > found.totals["ucb"].mean()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("nothing.py", "error: cannot read nothing.py: No such file"),
        ("nothing", "error: there is no module 'nothing'"),
        ("wrong.py", "error: cannot import wrong.py: NameError: name 'wrong' is not defined"),
        ("empty.py", "error: empty.py defines no policy"),
    ],
)
def test_simulate_says_why_a_file_is_refused(mine: Path, spec: str, message: str) -> None:
    (mine.parent / "wrong.py").write_text("wrong")
    (mine.parent / "empty.py").write_text("")
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--import", spec])
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_names_are_separated_by_commas_outside_of_brackets() -> None:
    assert policy_names("a, b(x=1, y=2),c", ()) == ["a", "b(x=1, y=2)", "c"]
    assert policy_names("all", ("a", "b")) == ["a", "b"]
