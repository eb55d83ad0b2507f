"""lob learn --features: what they are worth in words, and what a table of users needs."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.learning.planted import World, world
from typer.testing import CliRunner

import lobandits as lob
from lobandits.cli.app import app


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output + done.stderr


def write(w: World, folder: Path) -> tuple[str, str]:
    """Write the cells of a world as logs, and its features as a table of users."""
    rows = {
        "user": np.repeat(w.table.users, w.table.n_arms),
        "arm": np.tile(w.table.arms, w.table.n_users),
        "reward": np.where(w.table.counts > 0, w.table.means, np.nan).ravel(),
    }
    pl.DataFrame(rows).filter(pl.col("reward").is_not_nan()).write_csv(folder / "logs.csv")
    people = {"user": w.table.users, "one": w.x[:, 0], "two": w.x[:, 1]}
    pl.DataFrame(people).write_csv(folder / "users.csv")
    return str(folder / "logs.csv"), str(folder / "users.csv")


def test_learning_says_what_features_are_worth_and_for_which_arms(tmp_path: Path) -> None:
    logs, users = write(world(300, 5, 2, 0.5, seed=6), tmp_path)
    out = str(tmp_path / "model.json")
    code, said = run(
        "learn", logs, "--features", "one,two", "--users", users, "--states", "1", "--out", out
    )
    assert code == 0
    assert "features foretell a held-out user better by +" in said
    assert "the first choice then costs" in said
    assert "one: " in said
    assert "% of what users differ by; +" in said
    assert lob.Model.load(out).options["users"] == users
    code, shown = run("show", out)
    assert code == 0
    assert "features foretell a held-out user better by +" in shown


def test_features_that_tell_nothing_are_said_to(tmp_path: Path) -> None:
    logs, users = write(world(200, 5, 2, 0.0, seed=6), tmp_path)
    code, said = run("learn", logs, "--features", "one,two", "--users", users, "--states", "1")
    assert code == 0
    assert "your features tell nothing about who likes what" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "onee", "--users", "users.csv"], "did you mean 'one'"),
        (["--users", "users.csv"], "users was given without features"),
        (["--features", "one"], "has no column 'one'"),
    ],
)
def test_what_is_missing_is_named(
    options: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(world(30, 5, 2, 0.0, seed=6), tmp_path)
    monkeypatch.chdir(tmp_path)
    code, said = run("learn", "logs.csv", *options)
    assert code == 2
    assert message in said
