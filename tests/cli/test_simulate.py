import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lobandits.cli.app import app
from lobandits.learning import Model, learn, make_ratings
from lobandits.policies import POLICIES
from lobandits.simulation import Result, Synthetic, simulate
from lobandits.simulation.learned_users import LearnedUsers

RUNNER = CliRunner()
SMALL = ["--arms", "4", "--states", "3", "--horizon", "20", "--users", "16"]


def test_the_table_is_that_of_the_same_call() -> None:
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", "ucb,ts", "--seed", "4"])
    assert result.exit_code == 0, result.output
    expected = simulate(Synthetic(4, 3), ["ucb", "ts"], 20, 16, seed=4).summary()
    assert result.output.splitlines()[:4] == str(expected).splitlines()[:4]
    for row, line in zip(expected.rows, result.output.splitlines()[5:], strict=True):
        assert line.split()[:2] == [row["policy"], f"{row['regret']:.2f}"]


def test_result_and_picture_are_saved_and_named(tmp_path: Path) -> None:
    out, plot = tmp_path / "result.npz", tmp_path / "regret.png"
    options = ["--policies", "ucb,mts", "--out", str(out), "--plot", str(plot), "--bound"]
    result = RUNNER.invoke(app, ["simulate", *SMALL, *options])
    assert result.exit_code == 0, result.output
    assert f"result saved to {out}" in result.output
    assert f"figure saved to {plot}" in result.output
    assert "lower bound: c log T" in result.output
    assert Result.load(out).policies == ("ucb", "mts")
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_the_help_names_every_policy() -> None:
    text = " ".join(RUNNER.invoke(app, ["simulate", "--help"]).output.replace("│", " ").split())
    assert f"{', '.join(POLICIES)}, or all" in text


def test_a_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    result = RUNNER.invoke(app, ["simulate", "--plot", str(tmp_path / "folder.png")])
    assert result.exit_code == 2
    assert "is a folder" in result.output
    assert "regret" not in result.stdout


def test_all_means_every_policy_that_can_play() -> None:
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", "all"])
    without = [name for name in POLICIES if name not in ("popular", "mixts", "lobbayes")]
    assert [line.split()[0] for line in result.output.splitlines()[5:]] == without
    past = ["--past-users", "20", "--past-rewards", "12"]
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", "all", *past])
    assert [line.split()[0] for line in result.output.splitlines()[5:]] == list(POLICIES)


def test_a_policy_without_its_prior_is_refused() -> None:
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", "lobbayes"])
    assert result.exit_code == 2
    assert "lobbayes needs a prior" in result.output


def test_options_of_policies_go_in_brackets(tmp_path: Path) -> None:
    names = "ucb,lobts(project_every=7),ts(prior_mean=1.0, prior_std=9.0)"
    out = tmp_path / "result.npz"
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", names, "--out", str(out)])
    assert result.exit_code == 0, result.output
    labels = ("ucb", "lobts(project_every=7)", "ts(prior_mean=1.0, prior_std=9.0)")
    assert Result.load(out).policies == labels


def test_options_reach_the_environment(tmp_path: Path) -> None:
    out = tmp_path / "result.npz"
    options = ["--policies", "ucb", "--scale", "0.5,2", "--shift=-1,1", "--rewards", "clipped"]
    options += ["-q", "0.5", "--sigma", "2", "--gamma", "0.5", "--keep", "mean", "--workers", "1"]
    result = RUNNER.invoke(app, ["simulate", *SMALL, *options, "--out", str(out)])
    assert result.exit_code == 0, result.output
    saved = Result.load(out).settings
    assert saved["environment"] == repr(
        Synthetic(4, 3, 2.0, 0.5, 0.5, (0.5, 2.0), (-1.0, 1.0), "clipped")
    )
    assert saved["keep"] == "mean"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scale", "2"], "--scale must be LOW,HIGH"),
        (["--out", "result.csv"], "--out must end in .npz"),
        (["--plot", "regret.txt"], "--plot must end in"),
        (["--out", "no/such/folder/result.npz"], "the folder 'no/such/folder' does not exist"),
        (["--states", "25"], "4 arms have only 24 orders"),
        (["--keep", "some"], "unknown keep 'some'"),
        (["--users", "0"], "n_users must be a whole number"),
    ],
)
def test_wrong_options_are_refused_before_any_work(options: list[str], message: str) -> None:
    result = RUNNER.invoke(app, ["simulate", *SMALL, "--policies", "ucb", *options])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_says_what_was_done_and_exits_with_130() -> None:
    code = "import lobandits.simulation; print(flush=True); from lobandits.cli import main; main()"
    options = ["simulate", "--policies", "ucb,ts", "--users", "100000", "--horizon", "100000"]
    child = subprocess.Popen(
        [sys.executable, "-c", code, *options, "--keep", "mean"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(3)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=20)
    assert child.returncode == 130, errors
    assert "interrupted: stopped after" in errors
    assert "of 100000 users were finished" in errors
    assert "Traceback" not in errors


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Return the file of a learned model."""
    ratings = make_ratings(n_users=60, n_arms=4, n_states=2, ratings_per_user=40)
    path = tmp_path / "model.json"
    learn(ratings.table, "userId", "genre", "rating", n_states=2).save(path)
    return path


def test_users_of_a_learned_model(model: Path) -> None:
    run = ["simulate", "--model", str(model), "--horizon", "20", "--users", "16", "--seed", "4"]
    result = RUNNER.invoke(app, [*run, "--policies", "ts,lobbayes"])
    assert result.exit_code == 0, result.output
    env = LearnedUsers(Model.load(model))
    expected = simulate(env, ["ts", "lobbayes"], 20, 16, seed=4).summary()
    for row, line in zip(expected.rows, result.output.splitlines()[5:], strict=True):
        assert line.split()[:2] == [row["policy"], f"{row['regret']:.2f}"]
    assert "lobbayes" in RUNNER.invoke(app, [*run, "--policies", "all"]).output
    louder = RUNNER.invoke(app, [*run, "--policies", "ts", "--sigma", "9"])
    assert "sigma=9" in louder.output


@pytest.mark.parametrize("option", [["--arms", "5"], ["--past-users", "9"], ["--scale", "1,2"]])
def test_a_model_has_its_own_arms_and_users(model: Path, option: list[str]) -> None:
    result = RUNNER.invoke(app, ["simulate", "--model", str(model), *option])
    assert result.exit_code == 2
    assert f"{option[0]} is an option of the synthetic task; with --model" in result.stderr
